"""What random and optimal moves get, against agents that are run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gde.data.evidence import Evidence
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, State
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.runs.evaluating import evaluate
from gde.testing.episodes import Move, episode_of
from gde_plugins.behaviour import references

GRID = Choice(name="grid", config={"size": 5, "density": 0.5})


def numbers(plan: Plan, folder: Path) -> dict[str, Measurement]:
    return {
        one.name: one for one in evaluate(plan, folder).measurements if not one.where
    }


def test_random_moves_get_what_a_random_agent_gets(tmp_path: Path) -> None:
    metrics = ("success", "efficiency", "accuracy", "references")
    plan = Plan(
        environment=GRID,
        agent=Choice(name="random"),
        episodes=12,
        repeats=25,
        metrics=metrics,
    )
    found = numbers(plan, tmp_path / "run")
    for name, reference in (
        ("success", "success.random"),
        ("efficiency.spl", "spl.random"),
        ("accuracy", "accuracy.random"),
    ):
        known, got = found[f"references.{reference}"].value, found[name].value
        assert known == pytest.approx(got, abs=0.06) and 0 < (known or 0) < 0.6
    assert found["references.success.optimal"].value == 1


def test_worlds_without_a_model_have_the_chance_of_a_random_action_alone(
    tmp_path: Path,
) -> None:
    plan = Plan(
        environment="blocksworld", agent="expert", episodes=3, metrics=("references",)
    )
    found = numbers(plan, tmp_path / "run")
    assert list(found) == ["references.accuracy.random"]
    assert 0 < (found["references.accuracy.random"].value or 0) < 1


def test_small_and_large_worlds_are_walked_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(environment=GRID, agent="random", episodes=8, metrics=("references",))
    dense = numbers(plan, tmp_path / "dense")
    monkeypatch.setattr(references, "SMALL", 0)
    sparse = numbers(plan, tmp_path / "sparse")
    assert len(dense) == 4
    for name, found in dense.items():
        assert sparse[name].value == pytest.approx(found.value, abs=1e-12)


def evidence(
    mdp: TabularMDP | None, actions: tuple[str, ...] = ("go", "wait"), index: int = 0
) -> Evidence:
    """An episode of three turns at the start of a world."""
    one = episode_of([Move(action="go", optimal=("go",))], horizon=3)
    (turn,) = one.turns
    turn = replace(
        turn,
        state=State(facts={}, index=index),
        observation=Observation(text="", actions=actions),
    )
    return Evidence(
        trajectories=(replace(one, turns=(turn,)),),
        mdp=None if mdp is None else lambda _: mdp,
    )


def values(given: Evidence) -> dict[str, float | None]:
    return {
        one.name.removeprefix("references."): one.value
        for one in references.references(given)
    }


GO = [[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 1]]
WAIT = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
WORLD = TabularMDP.of(
    [GO, WAIT],
    [-1, -1, 0, 0],
    terminal=[False, False, True, True],
    actions=("go", "wait"),
)
"""From state 0 "go" leads to the goal 2 and "wait" to 1, from there to the trap 3 and
back.
"""


def test_walks_of_a_small_world_by_hand() -> None:
    found = values(evidence(WORLD))
    # At once with 1/2; by waiting twice and then going, with 1/8, in three steps for one.
    assert found == {
        "accuracy.random": 0.5,
        "success.random": 5 / 8,
        "success.optimal": 1.0,
        "spl.random": pytest.approx(1 / 2 + 1 / 8 / 3),
    }
    # From 1 the trap is as near as the goal of optimal moves is to 0, and it is an end.
    other = values(evidence(WORLD, index=1))
    assert other["success.random"] == 5 / 8


def test_steps_that_differ_in_cost_have_no_length() -> None:
    uneven = replace(
        WORLD, reward=np.array([[-1.0, -2.0], [-1.0, -1.0], [0, 0], [0, 0]])
    )
    (spl,) = [
        one
        for one in references.references(evidence(uneven))
        if one.name == "references.spl.random"
    ]
    assert (spl.value, spl.reason) == (
        None,
        "the turns of an episode do not all cost the same",
    )


def unknown(_: object) -> TabularMDP:
    raise GdeError("it has none")


@pytest.mark.parametrize(
    "given",
    [
        evidence(None),
        evidence(replace(WORLD, terminal=None)),
        evidence(WORLD, actions=("go", "wait", "look")),
        replace(evidence(WORLD), mdp=unknown),
    ],
)
def test_what_is_no_process_of_the_same_actions_is_not_walked(given: Evidence) -> None:
    assert [*values(given)] == ["accuracy.random"]
