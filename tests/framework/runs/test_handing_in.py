"""Activations that were captured elsewhere are probed as a run's own, with the controls
that need no model.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from odd_parts import WhereProbe

import gde
from gde import Choice, GdeError, Measurement, Plan, Result, evaluate, load_evidence
from gde.request.catalogue import Catalogue
from gde.store.folder import RunFolder

WIDTH = 24
PLACE = (5, "mlp-out")


@pytest.fixture
def run(tmp_path: Path, asking: Catalogue) -> Path:
    """A run of an agent that asks no language model."""
    plan = Plan(
        environment="long-corridor", agent="random", metrics=["success"], episodes=12
    )
    evaluate(plan, tmp_path / "run", asking)
    return tmp_path / "run"


def cells(run: Path) -> NDArray[np.int64]:
    """(N,) where the agent is in each turn."""
    found = []
    for trajectory in load_evidence(run).trajectories:
        found += [turn.state.index for turn in trajectory.turns if turn.state]
    return np.array(found)


def shown(run: Path) -> NDArray[np.float32]:
    """(N, WIDTH) activations that show it."""
    return np.eye(WIDTH, dtype=np.float32)[cells(run)]


def noise(run: Path, seed: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(len(cells(run)), WIDTH)).astype(np.float32)


def probed(run: Path, catalogue: Catalogue, **given: Any) -> Mapping[str, Measurement]:
    found: Result = gde.probe(run, [WhereProbe()], catalogue, **given)
    return {
        str(one.where["control"]): one
        for one in found.measurements
        if one.name.endswith("accuracy") and "WhereProbe" in one.name
    }


def test_what_activations_show_is_found_and_random_weights_are_a_control(
    run: Path, asking: Catalogue
) -> None:
    draws = [{PLACE: noise(run, seed)} for seed in (0, 1)]
    by_control = probed(run, asking, activations={PLACE: shown(run)}, untrained=draws)
    assert by_control["none"].value == 1
    assert by_control["none"].where["layer"] == 5
    assert by_control["none"].where["position"] == "mlp-out"
    random = by_control["untrained"].value
    assert random is not None and random < 0.9
    alone = [
        probed(run, asking, activations={PLACE: shown(run)}, untrained=[each])
        for each in draws
    ]
    values = [each["untrained"].value or 0 for each in alone]
    assert values[0] != values[1]
    assert random == pytest.approx(np.mean(values))
    shuffled = by_control["shuffled"].value
    assert shuffled is not None and shuffled < 0.9


def test_without_random_weights_the_control_says_what_it_needs(
    run: Path, asking: Catalogue
) -> None:
    by_turn = dict(zip(turns(run), shown(run), strict=True))
    by_control = probed(run, asking, activations={PLACE: by_turn})
    assert by_control["none"].value == 1
    (report,) = [
        each
        for each in load_evidence(run).probe_reports
        if each.fit.control == "untrained"
    ]
    assert "without a model" in report.reason and "`untrained`" in report.reason


def turns(run: Path) -> list[tuple[str, int]]:
    table = gde.open(run).turns
    return [*zip(table["episode"], table["index"], strict=True)]


def test_turns_without_activations_are_not_probed(run: Path, asking: Catalogue) -> None:
    half = turns(run)[::2]
    by_turn = dict(zip(half, shown(run)[::2], strict=True))
    probed(run, asking, activations={PLACE: by_turn})
    opened = gde.open(run)
    (source,) = opened.stored["source"]
    labels = opened.activations(*PLACE, source=str(source)).labels
    assert [*zip(labels["episode"], labels["index"], strict=True)] == half


def test_other_values_are_fitted_anew_and_the_same_ones_are_not(
    run: Path, asking: Catalogue
) -> None:
    first = probed(run, asking, activations={PLACE: shown(run)})["none"].value
    other = probed(run, asking, activations={PLACE: noise(run, 0)})["none"].value
    again = probed(run, asking, activations={PLACE: shown(run)})["none"].value
    assert first == again == 1 and other is not None and other < 0.9
    assert len(gde.open(run).stored["source"]) == 2


def test_a_named_probe_is_fitted_again_to_what_the_run_has_kept(
    tmp_path: Path, asking: Catalogue
) -> None:
    run = tmp_path / "run"
    plan = Plan(environment="grid", agent="random", metrics=["success"], episodes=8)
    evaluate(plan, run)
    asked = [Choice(name="cogmap", config={"variants": ["ridge"], "size": 9})]
    values = np.random.default_rng(0).normal(size=(len(turns(run)), 4))
    found = gde.probe(run, asked, activations={(2, "pre"): values})
    again = gde.probe(run)
    assert again.failures == found.failures
    reasons = " ".join(failure.reason for failure in found.failures)
    assert "without a model" in reasons and "tokens of the prompt are not" in reasons
    assert [one for one in again.measurements if one.name.startswith("cogmap")] == [
        one for one in found.measurements if one.name.startswith("cogmap")
    ]
    (weights,) = [
        choice.config["weights"] for choice in RunFolder.open(run).plan().probes
    ]
    other = replace(plan, probes=[Choice(name="cogmap", config={"weights": weights})])
    with pytest.raises(GdeError, match="is no model that could be asked: name weights"):
        evaluate(other, tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda of: of[:-1], r"wanted \d+ rows, one for each of .*, got \d+"),
        (lambda of: of * np.nan, "wanted finite numbers"),
        (lambda of: of[:, None, None], "wanted finite numbers .* got shape"),
        (lambda of: {("0/no/0", 0): of[0]}, "the run has no turn"),
        (lambda _: {}, "wanted the activations of some turns, got none"),
    ],
)
def test_activations_that_do_not_fit_are_refused_before_anything_is_written(
    run: Path, asking: Catalogue, change: Any, message: str
) -> None:
    before = (run / "run.sqlite").read_bytes()
    with pytest.raises(GdeError, match=message):
        probed(run, asking, activations={PLACE: change(shown(run))})
    assert (run / "run.sqlite").read_bytes() == before


def test_activations_have_one_width_and_initialisations_their_places(
    run: Path, asking: Catalogue
) -> None:
    own = {PLACE: shown(run)}
    with pytest.raises(GdeError, match=f"one width, got {WIDTH} .* and 3 .*untrained"):
        probed(run, asking, activations=own, untrained=[{PLACE: shown(run)[:, :3]}])
    with pytest.raises(GdeError, match=r"untrained\[0\]: wanted activations by"):
        probed(
            run, asking, activations=own, untrained=[{(4, "mlp-out"): noise(run, 0)}]
        )
    with pytest.raises(GdeError, match=r"wanted a layer from -1 \(embeddings\) on"):
        probed(run, asking, activations={(3, "../x"): shown(run)})
