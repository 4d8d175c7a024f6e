"""A model that the caller holds answers and is read as one that gde has loaded."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from gde import Choice, GdeError, Plan, Result, evaluate, probe, resume
from gde.request.catalogue import Catalogue, load_plugins
from gde.testing import check_white_box
from gde.testing.parts import ScriptedModel
from gde_plugins.language_models import in_memory
from gde_plugins.language_models.nano import folder
from gde_plugins.language_models.transformers_model import TransformersModel


@pytest.fixture(scope="module")
def nano() -> tuple[Any, Any]:
    """Weights and tokenizer, as a user of transformers loads them."""
    model = AutoModelForCausalLM.from_pretrained(folder(), dtype=torch.float64)
    return model, AutoTokenizer.from_pretrained(folder())


def plan(name: str, *models: Any) -> Plan:
    # What gde chooses for nano by itself.
    agent = {"model": name, "style": "compact", "effort": "medium"}
    probed = {"layer": [3], "positions": ["pre"], "size": 5}
    return Plan(
        environment=Choice(name="grid", config={"size": 5}),
        agent=Choice(name="gpt-oss", config=agent),
        models=models,
        probes=[Choice(name="cogmap", config=probed)],
        metrics=["success"],
        episodes=10,
        initialisations=1,
        learning=False,
    )


@pytest.fixture(scope="module")
def held(nano: tuple[Any, Any], tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("held") / "run"
    return evaluate(plan("mine", in_memory("mine", *nano)), folder)


def numbers(result: Result) -> dict[Any, Any]:
    """Those that do not hang on how random weights are drawn."""
    return {
        (one.name, *one.where.items()): one.value
        for one in result.measurements
        if one.where.get("control") != "untrained"
    }


def test_it_gives_the_numbers_of_the_same_weights_from_a_folder(
    held: Result, tmp_path: Path
) -> None:
    assert held.status == "ok", held.failures
    loaded = evaluate(plan("nano"), tmp_path / "run")
    assert numbers(held) == numbers(loaded)
    controls = {one.where.get("control") for one in held.measurements}
    assert "untrained" in controls


def test_the_folder_alone_cannot_go_on(held: Result, nano: tuple[Any, Any]) -> None:
    with pytest.raises(GdeError, match="an object of the program that made the run"):
        resume(held.run)
    given = plan("mine", in_memory("mine", *nano))
    assert resume(held.run, plan=given).measurements == held.measurements


def test_weights_that_have_changed_since_are_refused(
    held: Result, nano: tuple[Any, Any]
) -> None:
    model, tokenizer = nano
    given = plan("mine", in_memory("mine", model, tokenizer))
    with torch.no_grad():
        model.lm_head.weight[0, 0] += 1
        try:
            with pytest.raises(GdeError, match="'mine' has changed since it answered"):
                probe(held.run, ["distance"], plan=given)
        finally:
            model.lm_head.weight[0, 0] -= 1


def test_a_probe_reads_it_by_name(held: Result, nano: tuple[Any, Any]) -> None:
    asked = Choice(name="distance", config={"weights": "mine", "positions": ["pre"]})
    given = plan("mine", in_memory("mine", *nano))
    found = probe(held.run, [asked], plan=given)
    assert any(one.name.startswith("distance.") for one in found.measurements)


def test_weights_of_a_run_that_others_answered_are_refused(
    nano: tuple[Any, Any], tmp_path: Path
) -> None:
    played = replace(plan("nano"), probes=[], episodes=2)
    evaluate(played, tmp_path / "run")
    asked = Choice(name="cogmap", config={"weights": "mine"})
    with pytest.raises(GdeError, match="'mine' are not those of 'nano'"):
        probe(tmp_path / "run", [asked], models=[in_memory("mine", *nano)])


@pytest.mark.parametrize("inside", ["original_model", "_module", "model"])
def test_a_wrapper_is_taken_for_what_it_wraps(tiny_folder: Path, inside: str) -> None:
    """TransformerBridge, nnsight and a pipeline keep it there (`test_wrappers.py`)."""
    model = AutoModelForCausalLM.from_pretrained(tiny_folder, dtype=torch.float64)
    tokenizer = AutoTokenizer.from_pretrained(tiny_folder)
    wrapper = SimpleNamespace(**{inside: model.train()}, tokenizer=tokenizer)
    offer = in_memory("mine", wrapper)
    made: Any = offer.make
    assert not isinstance(made, str)
    if inside == "model":
        check_white_box(lambda: made(None, None))
    assert model.training == (inside != "model")
    versions = made(None, None).info.versions
    assert made(None, None).info.versions == versions
    loaded = TransformersModel.load(tiny_folder, device="cpu", dtype="float64")
    assert {*loaded.info.versions} == {*versions}


class Lazy:
    """Fails at whatever it lacks."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_what_is_no_model_is_told(nano: tuple[Any, Any]) -> None:
    model, tokenizer = nano
    with pytest.raises(GdeError, match="mine: wanted a tokenizer"):
        in_memory("mine", model)
    for other in (Lazy(), torch.nn.Linear(1, 1)):
        with pytest.raises(GdeError, match="wanted a causal model of transformers"):
            in_memory("mine", other, tokenizer)
    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(model.config)
    with pytest.raises(GdeError, match="weights are not loaded yet; dispatch it"):
        in_memory("mine", empty, tokenizer)


KNOWN = Catalogue(load_plugins(modules=("gde.testing.plugin",)))


def asking(*models: Any, name: str = "mine") -> Plan:
    return Plan(
        environment="corridor",
        agent=Choice(name="asking", config={"model": name}),
        models=models,
        metrics=["success"],
        episodes=2,
    )


def test_any_object_with_the_methods_of_a_language_model_answers(
    tmp_path: Path,
) -> None:
    mine = Choice.of(ScriptedModel(), "mine")
    result = evaluate(asking(mine), tmp_path / "run", KNOWN)
    assert result.status == "ok"
    with pytest.raises(GdeError, match="an object of the program that made the run"):
        resume(tmp_path / "run", KNOWN)


def test_a_model_without_a_name_or_form_says_what_is_wanted(
    nano: tuple[Any, Any], tmp_path: Path
) -> None:
    wanted = r"wanted an object with complete\(\), info and close\(\), or in_memory"
    with pytest.raises(GdeError, match=wanted):
        evaluate(asking(Choice.of(nano[0], "mine")), tmp_path / "run", KNOWN)
    with pytest.raises(GdeError, match="configured where it is made"):
        set_later = Choice(
            name="python:x", alias="mine", part=ScriptedModel(), config={"top_p": 1}
        )
        evaluate(asking(set_later), tmp_path / "run", KNOWN)
