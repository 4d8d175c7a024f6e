"""Counterfactual goals are draws of the generator, given all else of a world."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from gde.errors import GdeError
from gde.parts.environment import HasGoals
from gde.testing import check_environment
from gde_plugins.grid.composition import compose
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.generation.redrawn import alike_goals, cell_name
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.keyed.config import (
    KeyDoorConfig,
    KeyNoDoorConfig,
    TwoPathKeyConfig,
)
from gde_plugins.grid.keyed.environment import key_door, key_no_door, two_path_key

OPEN = ("#####", "#___#", "#___#", "#___#", "#####")
CELLS = [(row, column) for row in (1, 2, 3) for column in (1, 2, 3)]


def steps(one: tuple[int, int], other: tuple[int, int]) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


@pytest.mark.parametrize("least", [1, 2, 3])
def test_goals_have_the_chances_of_the_generator(least: int) -> None:
    # Every draw of goal and agent in an open room, with its probability.
    joint: dict[tuple[Any, Any], float] = {}
    possible = {
        goal: [cell for cell in CELLS if steps(goal, cell) >= least] for goal in CELLS
    }
    goals = [goal for goal in CELLS if possible[goal]]
    for goal in goals:
        for agent in possible[goal]:
            joint[goal, agent] = 1 / len(goals) / len(possible[goal])

    for goal, agent in joint:
        alike = {
            cell_name(other): chance
            for (other, start), chance in joint.items()
            if start == agent and steps(start, other) == steps(goal, agent)
        }
        weights = alike_goals(
            Grid(rows=OPEN, agent=agent, goal=goal), range(max(least, 1), 9)
        )
        assert weights.keys() == alike.keys()
        ratios = [weights[name] / alike[name] for name in alike]
        np.testing.assert_allclose(ratios, ratios[0])


def z_score(
    environment: Any, centrality: Callable[[str, Any], float], seeds: range
) -> float:
    """How far the goals' centrality is from its expectation, in standard errors."""
    surprise = 0.0
    variance = 0.0
    for seed in seeds:
        environment.reset(seed)
        goals = environment.goals()
        values = np.array([centrality(n, environment) for n in goals.probabilities])
        chances = np.array([*goals.probabilities.values()])
        mean = chances @ values
        surprise += centrality(goals.present, environment) - mean
        variance += chances @ (values - mean) ** 2
    return float(surprise / np.sqrt(variance))


def from_centre(goal: str, environment: Any) -> float:
    row, column = map(int, goal.split(","))
    middle = len(environment.world().facts["rows"]) / 2 - 0.5
    return abs(row - middle) + abs(column - middle)


def from_door(goal: str, environment: Any) -> float:
    row, column = map(int, goal.split(","))
    at = environment.world().facts["place"]
    return float(steps((row, column), (at[0], at[1])))


GRIDS: list[Mapping[str, Any]] = [
    {"size": 9, "density": 0.0},
    {"size": 9, "density": 0.3, "min_distance": 6},
    {"size": 9, "density": 0.3, "max_distance": 5},
    {"size": 9, "density": 0.3, "min_distance": 6, "transform": "swap+rotate90"},
]


@pytest.mark.extended
@pytest.mark.parametrize("settings", GRIDS)
def test_goals_of_grids_are_where_they_should_be(settings: Mapping[str, Any]) -> None:
    environment = compose(GridConfig(**settings))
    assert abs(z_score(environment, from_centre, range(500))) < 3.3


@pytest.mark.extended
@pytest.mark.parametrize(
    "environment",
    [
        key_door(KeyDoorConfig(horizon=14)),
        key_door(KeyDoorConfig(rooms=3)),
        key_no_door(KeyNoDoorConfig(horizon=14)),
        key_no_door(KeyNoDoorConfig(rooms=3)),
    ],
)
@pytest.mark.parametrize("centrality", [from_centre, from_door])
def test_goals_of_key_worlds_are_where_they_should_be(
    environment: Any, centrality: Callable[[str, Any], float]
) -> None:
    assert abs(z_score(environment, centrality, range(400))) < 3.3


@pytest.mark.parametrize(
    "make",
    [
        lambda: compose(GridConfig(size=7, min_distance=4, view_radius=2)),
        lambda: key_door(KeyDoorConfig()),
        lambda: key_no_door(KeyNoDoorConfig(artefact="none")),
    ],
)
def test_the_contract_holds(make: Callable[[], HasGoals]) -> None:
    check_environment(make, seeds=(0, 1), turns=6)  # type: ignore[arg-type]


def test_two_paths_leave_no_other_goal() -> None:
    environment = two_path_key(TwoPathKeyConfig())
    environment.reset(0)
    assert [*environment.goals().probabilities.values()] == [1.0]


def test_a_perturbation_that_depends_on_the_goal_says_so() -> None:
    environment = compose(GridConfig(perturbation="move_goal"))
    environment.reset(0)
    with pytest.raises(GdeError, match="depends on the goal"):
        environment.goals()
