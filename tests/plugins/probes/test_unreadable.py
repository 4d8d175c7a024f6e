"""What cannot be read is said with its reason, and never becomes a number."""

from html import unescape
from pathlib import Path

import pytest

from gde import Choice, How, Plan, evaluate, probe
from gde.data.result import Result
from gde.errors import GdeError
from gde.request.catalogue import Catalogue

QUICK = {"size": 7, "variants": ["bilinear"], "positions": ["pre"], "epochs": 1}


def run(
    catalogue: Catalogue,
    folder: Path,
    model: str = "walker",
    episodes: int = 4,
    probes: bool = True,
) -> Result:
    plan = Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config={"model": model}),
        probes=(Choice(name="cogmap", config={**QUICK, "layer": 0}),) if probes else (),
        metrics=(Choice(name="success"),),
        episodes=episodes,
    )
    how = How(reporters=("html",) if probes else ())
    return evaluate(plan, folder, catalogue, how=how)


@pytest.mark.parametrize(
    ("model", "episodes", "reason"),
    [
        (
            "constant",
            4,
            "the activations at position 'pre' of layer 0 are the same in every turn",
        ),
        ("undefined", 4, "undefined value in row 0"),
        ("walker", 1, "wanted worlds to train on and worlds to test on, got 0 and 1"),
    ],
)
def test_a_reason_stands_in_the_place_of_every_number(
    catalogue: Catalogue, tmp_path: Path, model: str, episodes: int, reason: str
) -> None:
    result = run(catalogue, tmp_path / "run", model, episodes)
    told = [
        one
        for one in result.measurements
        if one.source == "cogmap" and one.where.get("control") == "none"
    ]
    assert told and all(one.value is None and reason in one.reason for one in told)
    assert result.status == "partial"
    assert {failure.stage for failure in result.failures} == {"probe"}
    assert any(reason in failure.reason for failure in result.failures)
    page = unescape((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert reason in page.partition("every fit and its controls")[2]


def test_what_was_not_recorded_is_replayed(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    result = run(catalogue, tmp_path / "run", probes=False)
    assert not [one for one in result.measurements if one.source == "cogmap"]
    probed = probe(
        result.run, [Choice(name="cogmap", config={**QUICK, "layer": 1})], catalogue
    )
    assert [
        one
        for one in probed.measurements
        if one.name == "cogmap.top1.agent" and one.value is not None
    ]


def test_a_layer_that_is_not_there_and_a_model_without_any_are_refused(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    result = run(catalogue, tmp_path / "run", probes=False)
    with pytest.raises(
        GdeError,
        match="model 'walker' has layers 0 to 2 or one of early, middle, late, all, got 7",
    ):
        probe(
            result.run, [Choice(name="cogmap", config={**QUICK, "layer": 7})], catalogue
        )
    plan = Plan(
        environment=Choice(name="grid"),
        agent=Choice(name="optimal"),
        episodes=1,
    )
    blind = evaluate(plan, tmp_path / "blind", catalogue)
    with pytest.raises(
        GdeError, match="cogmap needs an agent whose language model gives activations"
    ):
        probe(blind.run, ["cogmap"], catalogue)
