"""One name for the local weights of a served model, for all probes of a plan."""

from dataclasses import replace

import pytest

from gde.data.plan import Choice, Plan
from gde.errors import ConfigError
from gde.request.catalogue import Catalogue
from gde.request.models import with_weights
from gde.studies.reproducing import Request, _planned

PLAN = Plan(
    environment=Choice(name="grid"),
    agent=Choice(name="gpt-oss", config={"model": "openai:served"}),
    probes=(Choice(name="cogmap"), Choice(name="plan", config={"weights": "own"})),
)


def test_every_probe_has_them_but_one_that_names_its_own() -> None:
    found = with_weights({"one": PLAN}, "hf:PATH", Catalogue.default())
    weights = [probe.config["weights"] for probe in found["one"].probes]
    assert weights == ["hf:PATH", "own"]
    assert with_weights({"one": PLAN}, "", Catalogue.default()) == {"one": PLAN}


def test_without_a_probe_that_takes_them_they_are_refused() -> None:
    none = replace(PLAN, probes=())
    with pytest.raises(ConfigError, match=r"weights: no probe reads activations"):
        with_weights({"one": none}, "hf:PATH", Catalogue.default())
    # In a study some plans may have none.
    found = with_weights({"a": none, "b": PLAN}, "hf:PATH", Catalogue.default())
    assert found["a"] == none


@pytest.mark.parametrize("study", ["telos-cogmap", "telos-probes"])
def test_the_probe_studies_read_a_served_model(study: str) -> None:
    agent = Choice(name="", config={"model": "openai:served@http://127.0.0.1:1/v1"})
    request = Request(name=study, scale=0.01, agent=agent, weights="nano")
    _, _, plans = _planned(request, Catalogue.default())
    probes = [probe for plan in plans.values() for probe in plan.probes]
    assert probes and all(probe.config["weights"] == "nano" for probe in probes)
