"""The oracle on grids against an independent all-pairs search: distances and sets of
optimal actions, every state.
"""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from gde.numerics.tabular import solve
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import tabulate

STEPS = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
Cell = tuple[int, int]


def floyd_warshall(free: list[Cell]) -> NDArray[np.float64]:
    """(N, N) distances between free cells in steps, inf where there is no way."""
    distance = np.array(
        [[float(abs(a - c) + abs(b - d)) for c, d in free] for a, b in free]
    )
    distance[distance > 1] = np.inf
    for middle in range(len(free)):
        distance = np.minimum(distance, distance[:, middle, None] + distance[middle])
    return distance


def mismatches(rows: tuple[str, ...], goals: list[Cell]) -> int:
    """Number of states and goals in which oracle and search disagree."""
    free = [
        (r, c)
        for r, row in enumerate(rows)
        for c, symbol in enumerate(row)
        if symbol == "_"
    ]
    place = {cell: index for index, cell in enumerate(free)}
    distance = floyd_warshall(free)
    wrong = 0
    for goal in goals:
        model = tabulate(Grid(rows=rows, agent=free[0], goal=goal))
        assert model.actions == tuple(STEPS)
        solution = solve(model)
        to_goal = distance[:, place[goal]]
        for (row, column), index in place.items():
            best = set()
            for action, (down, right) in STEPS.items():
                after = place.get((row + down, column + right), index)
                if np.isfinite(to_goal[index]) and to_goal[after] < to_goal[index]:
                    best.add(action)
            named = {
                action
                for action, good in zip(
                    model.actions, solution.optimal[index], strict=True
                )
                if good
            }
            wrong += solution.value[index] != -to_goal[index] or named != best
    return wrong


def test_every_three_by_three_interior_with_every_goal() -> None:
    compared = 0
    for pattern in itertools.product("#_", repeat=9):
        inner = ["".join(pattern[start : start + 3]) for start in (0, 3, 6)]
        rows = ("#####", *(f"#{row}#" for row in inner), "#####")
        goals = [
            (r, c)
            for r, row in enumerate(rows)
            for c, symbol in enumerate(row)
            if symbol == "_"
        ]
        assert mismatches(rows, goals) == 0, rows
        compared += len(goals)
    assert compared == 2304  # 9 cells, each a goal in half of the 512 patterns


@pytest.mark.parametrize("size", [5, 7, 9, 11, 15])
@pytest.mark.parametrize("density", [0.0, 0.3, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_random_grids(size: int, density: float, seed: int) -> None:
    grid = generate(size, density, np.random.default_rng(seed))
    assert mismatches(grid.rows, [grid.goal, grid.agent]) == 0


def test_model_describes_the_grid() -> None:
    grid = generate(9, 0.5, np.random.default_rng(3))
    model = tabulate(grid)
    places = list(
        zip(
            model.labels["row"].astype(int),
            model.labels["column"].astype(int),
            strict=True,
        )
    )
    assert all(grid.rows[row][column] == "_" for row, column in places)
    assert len(places) == "".join(grid.rows).count("_") == model.n_states
    assert places[int(model.start.argmax())] == grid.agent
    assert model.terminal is not None
    assert [places[index] for index in model.terminal.nonzero()[0]] == [grid.goal]
    assert [places[index] for index in model.labels["goal"].nonzero()[0]] == [grid.goal]
    for (row, column), walls in zip(places, model.labels["wall"], strict=True):
        beside = (
            (row - 1, column),
            (row + 1, column),
            (row, column - 1),
            (row, column + 1),
        )
        assert walls == sum(grid.rows[r][c] == "#" for r, c in beside)
    assert model.deterministic
