"""Worlds against their published rules, written out cell by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.mdp import Policy, TabularMDP
from gde.numerics.tabular import occupancy, solve
from gde_plugins.meg.worlds import (
    cliff_world,
    epsilon_greedy,
    greedy,
    unrolled,
)

HORIZON = 30
# Left or right, then with the prize or without it for good.
ENDING = TabularMDP.of(
    [np.eye(4)[[3, 2, 2, 3]], np.eye(4)[[2, 3, 2, 3]]],
    reward=[0.0, 0.0, -1.0, 1.0],
    start=[0.5, 0.5, 0, 0],
    terminal=np.array([False, False, True, True]),
)


def test_a_move_of_the_cliff_world_is_diagonal_clamped_and_blown_upwards() -> None:
    width, height, wind = 5, 3, 0.3
    mdp = cliff_world(width, height, wind=wind)
    for a, (rows, columns) in enumerate([(-1, -1), (-1, 1), (1, -1), (1, 1)]):
        for row in range(height):
            for column in range(width):
                expected = np.zeros((height, width))
                target = min(max(column + columns, 0), width - 1)
                expected[min(max(row + rows, 0), height - 1), target] += 1 - wind
                expected[min(max(row + rows - 1, 0), height - 1), target] += wind
                reached = (
                    mdp.transition[a][[row * width + column]]
                    .toarray()
                    .reshape(height, width)
                )
                np.testing.assert_allclose(reached, expected)


@pytest.mark.parametrize(
    ("goal_length", "rows"),
    [
        (1, ("-CCCCCCCCG",) + ("-" * 10,) * 3),
        (3, ("-CCCCCCGGG", "-" * 9 + "G", "-" * 9 + "G", "-" * 10)),
    ],
)
def test_the_goal_runs_along_the_top_row_and_the_last_column(
    goal_length: int, rows: tuple[str, ...]
) -> None:
    pay = {"-": -1.0, "C": -10.0, "G": 10.0}
    assert cliff_world(goal_length=goal_length).reward.tolist() == [
        pay[cell] for row in rows for cell in row
    ]


@pytest.mark.parametrize(
    ("goal_length", "expected"),
    [(1, 193.572), (2, 204.494), (3, 215.352), (4, 226.164)],
)
def test_what_the_optimal_policy_earns(goal_length: int, expected: float) -> None:
    mdp = cliff_world(goal_length=goal_length)
    for ties in ("first", "uniform"):
        earned = (
            occupancy(mdp, greedy(mdp, HORIZON, ties), HORIZON).sum(axis=1) @ mdp.reward
        )
        assert earned == pytest.approx(expected, abs=5e-4)


def test_the_unrolled_world_has_the_same_optimum_certified() -> None:
    mdp = cliff_world(width=6)
    long = unrolled(mdp, 12)
    solution, best = solve(long), greedy(mdp, 12, "uniform")
    assert solution.value[0] == pytest.approx(
        occupancy(mdp, best, 12).sum(axis=1) @ mdp.reward
    )
    optimal = solution.optimal.reshape(13, mdp.n_states, 4)
    assert (optimal[:12] == (best.probabilities > 0)).all()
    assert not optimal[12].any()
    assert (
        long.labels["column"][mdp.n_states :][: mdp.n_states] == mdp.labels["column"]
    ).all()


@pytest.mark.parametrize("goal_length", [0, 5])
def test_a_goal_that_does_not_fit(goal_length: int) -> None:
    with pytest.raises(
        ValueError,
        match=f"goal_length: wanted from 1 to 4 in a world of 4 x 10, got {goal_length}",
    ):
        cliff_world(goal_length=goal_length)


def test_wind_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"wind: wanted a probability, got 1\.5"):
        cliff_world(wind=1.5)
    assert cliff_world(wind=0.0).deterministic


@given(st.floats(0, 1))
def test_errors_are_among_all_actions_or_among_the_others(epsilon: float) -> None:
    meant = Policy(probabilities=np.eye(4))
    others, every = (
        epsilon_greedy(meant, epsilon, rule).probabilities for rule in ("others", "all")
    )
    np.testing.assert_allclose(others[0], [1 - epsilon, *[epsilon / 3] * 3])
    np.testing.assert_allclose(every[0], [1 - 0.75 * epsilon, *[epsilon / 4] * 3])


def test_epsilon_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"epsilon: wanted a probability, got -0\.1"):
        epsilon_greedy(Policy(probabilities=np.eye(2)), -0.1)


def test_greedy_heeds_what_the_terminal_state_pays() -> None:
    best = greedy(ENDING, 2, "uniform").probabilities[0]
    np.testing.assert_allclose(best[:2], np.eye(2))
