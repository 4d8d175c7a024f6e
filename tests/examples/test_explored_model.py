"""Models found by trying, against the models that environments know of themselves."""

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gde.data.observation import Observation, Outcome, World
from gde.errors import GdeError
from gde.parts.environment import Environment
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.meg import known_utility, soft_policy
from gde_plugins.meg.cliffworld.environment import CliffWorldEnvironment
from gde_plugins.meg.config import CliffWorldConfig
from gde_plugins.meg.worlds import cliff_world

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
example = importlib.import_module("explored_model")
explore = example.explore
Explored = Any

SMALL = CliffWorldConfig(width=4, height=2, horizon=8)


def cell(environment: Environment) -> tuple[int, ...]:
    assert isinstance(environment, CliffWorldEnvironment)
    return tuple(environment.state().facts["agent"])  # type: ignore[arg-type]


def cliff_cells(found: Explored) -> np.ndarray:
    """Rows of the found model in the order of the true one."""
    return np.array(
        [
            found.index[divmod(state, SMALL.width)]
            for state in range(SMALL.width * SMALL.height)
        ]
    )


def test_a_world_without_chance_is_found_as_it_is() -> None:
    environment = GridEnvironment(GridConfig(size=7))
    found = explore(environment, (3,))
    environment.reset(3)
    true = environment.mdp()
    rows = np.zeros(true.n_states, dtype=int)
    for state in range(true.n_states):
        environment.restore(state)
        rows[state] = found.index[json.dumps(environment.state().facts)]
    assert true.terminal is not None
    running = ~true.terminal  # what would follow at the goal cannot be tried
    for ours, theirs in zip(found.mdp.transition, true.transition, strict=True):
        np.testing.assert_array_equal(
            ours.toarray()[np.ix_(rows, rows)][running], theirs.toarray()[running]
        )
    np.testing.assert_array_equal(found.mdp.terminal[rows], true.terminal)
    np.testing.assert_array_equal(found.mdp.start[rows], true.start)
    assert found.mdp.actions == true.actions


@pytest.mark.extended
def test_chances_are_frequencies_over_seeds_and_goal_directedness_follows() -> None:
    found = explore(CliffWorldEnvironment(SMALL), range(400), key=cell)
    true, rows = cliff_world(SMALL.width, SMALL.height), cliff_cells(found)
    assert found.tries.min() > 200
    for ours, theirs in zip(found.mdp.transition, true.transition, strict=True):
        np.testing.assert_allclose(
            ours.toarray()[np.ix_(rows, rows)], theirs.toarray(), atol=0.12
        )
    np.testing.assert_allclose(
        found.mdp.reward[rows], np.repeat(true.reward[:, None], 4, axis=1)
    )
    policy = soft_policy(found.mdp, 0.2, 8)
    exact = known_utility(
        true, replace(policy, probabilities=policy.probabilities[:, rows]), horizon=8
    )
    assert known_utility(found.mdp, policy, horizon=8).value == pytest.approx(
        exact.value, rel=0.1
    )


def test_states_beyond_the_depth_are_not_tried() -> None:
    found = explore(CliffWorldEnvironment(SMALL), range(50), key=cell, depth=1)
    tried = found.tries.sum(axis=1) > 0
    assert tried.sum() == 1
    assert 2 < len(found.index) < SMALL.width * SMALL.height
    for matrix in found.mdp.transition:
        np.testing.assert_array_equal(matrix.diagonal()[~tried], 1.0)


def test_too_many_states_are_counted_and_a_way_out_is_named() -> None:
    with pytest.raises(
        GdeError,
        match=r"more than 50 states were found in .* tries; .*from_trajectories",
    ):
        explore(CliffWorldEnvironment(CliffWorldConfig()), (0,), most_states=50)


def test_seeds_of_different_worlds_are_refused() -> None:
    with pytest.raises(GdeError, match=r"got different ones of \[0, 1\]"):
        explore(GridEnvironment(GridConfig(size=7)), (0, 1))


class Button:
    """Counts how often it is pressed and tells nothing. It breaks at the third time, or
    is taken away at the first.
    """

    def __init__(
        self, breaks: bool = False, actions: tuple[str, ...] | None = ("press",)
    ) -> None:
        self.breaks, self.observation = breaks, Observation(text="", actions=actions)
        self.presses = 0

    def reset(self, seed: int) -> Observation:
        self.presses = 0
        return self.observation

    def world(self) -> World:
        return World(id="button")

    def step(self, action: str) -> Outcome:
        self.presses += 1
        if not self.breaks:
            return Outcome.cut_off(self.observation)
        return (
            Outcome.terminal(self.observation, 1.0, success=1.0)
            if self.presses == 3
            else Outcome.running(self.observation)
        )

    def snapshot(self) -> int:
        return self.presses

    def restore(self, snapshot: object) -> Observation:
        assert isinstance(snapshot, int)
        self.presses = snapshot
        return self.observation


REFUSED: list[tuple[Button, Callable[[Button], int] | None, str]] = [
    (Button(), None, "tells no state: give `key`"),
    (Button(actions=None), Button.snapshot, "takes any text"),
    (
        Button(),
        Button.snapshot,
        r"1 states, e\.g\. 1, are seen only when the environment cuts off",
    ),
    (
        Button(breaks=True),
        lambda one: one.presses % 3 or one.presses // 3,
        "state 1 ends some episodes and not others",
    ),
]


@pytest.mark.parametrize(("environment", "key", "message"), REFUSED)
def test_what_cannot_be_tabulated_is_refused(
    environment: Button, key: Callable[[Button], int] | None, message: str
) -> None:
    with pytest.raises(GdeError, match=message):
        explore(environment, key=key)  # type: ignore[arg-type]
