"""Real grids, reflected: who does not care is left alone, and who prefers one side is
caught.
"""

from pathlib import Path

import pytest

from gde import Choice, Measurement, Plan
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.evaluating import evaluate


def found(
    agent: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Measurement]:
    """What `pairs` says of the agent on 24 grids and their reflections, six episodes in
    each.
    """
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    plan = Plan(
        environment=Choice(
            name="grid",
            config={"size": 7, "density": 0.2, "transform": ["none", "reflect"]},
        ),
        agent=Choice(name=agent),
        episodes=24,
        repeats=6,
        metrics=(Choice(name="pairs", config={"measures": ["success", "accuracy"]}),),
    )
    result = evaluate(
        plan, folder / agent, Catalogue(load_plugins(modules=("biased",)))
    )
    assert not result.failures
    return {
        one.name.removeprefix("pairs."): one
        for one in result.measurements
        if one.where == {"transform": "reflect"}
    }


def test_the_optimal_agent_does_the_same_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optimal = found("optimal", tmp_path, monkeypatch)
    assert optimal["accuracy.difference"].value == 0.0
    assert optimal["accuracy.p_holm"].reason.endswith("pairs differ, needs 6")
    assert optimal["accuracy.p_any"].value == 1.0


@pytest.mark.extended
def test_a_symmetric_random_agent_is_not_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = found("random", tmp_path, monkeypatch)
    assert all(
        (random[name].value or 0) > 0.01
        for name in ("accuracy.p_holm", "accuracy.p_any_holm")
    )


def test_an_agent_that_prefers_left_is_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    biased = found("left-biased", tmp_path, monkeypatch)
    assert (biased["accuracy.p_any_holm"].value or 1) < 0.01
