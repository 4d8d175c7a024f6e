"""Random grids: what holds for every seed, and that a seed stays the grid it is."""

import os
import subprocess
import sys
from collections import Counter, deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.rendering.layout import render_text

sizes = st.sampled_from(range(5, 26, 2))
densities = st.floats(0, 1)
seeds = st.integers(0, 2**63 - 1)
few = settings(max_examples=40)


def distances(grid: Grid, start: tuple[int, int]) -> dict[tuple[int, int], int]:
    """Steps from one cell to all that can be reached."""
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        row, column = waiting.popleft()
        for cell in (
            (row - 1, column),
            (row + 1, column),
            (row, column - 1),
            (row, column + 1),
        ):
            if grid.rows[cell[0]][cell[1]] == "_" and cell not in steps:
                steps[cell] = steps[row, column] + 1
                waiting.append(cell)
    return steps


def n_free(grid: Grid) -> int:
    return "".join(grid.rows).count("_")


def n_edges(grid: Grid) -> int:
    columns = ["".join(column) for column in zip(*grid.rows, strict=True)]
    return sum(
        line[i : i + 2] == "__"
        for line in [*grid.rows, *columns]
        for i in range(len(line))
    )


@few
@given(sizes, densities, seeds)
def test_closed_connected_and_placed(size: int, density: float, seed: int) -> None:
    grid = generate(size, density, generator(seed))
    assert grid.walls.shape == (size, size)
    assert grid.walls[[0, -1]].all()
    assert grid.walls[:, [0, -1]].all()
    assert grid.agent != grid.goal
    assert len(distances(grid, grid.goal)) == n_free(grid)


def test_no_cell_is_enclosed() -> None:
    # One in twenty of these would have a free cell between four walls if pillars were
    # removed like other walls.
    for seed in range(150):
        grid = generate(25, 0.8, generator(seed))
        assert len(distances(grid, grid.goal)) == n_free(grid)


@few
@given(sizes, densities, seeds)
def test_share_of_inner_walls(size: int, density: float, seed: int) -> None:
    rooms = (size // 2) ** 2
    in_maze = (size - 2) ** 2 - (
        2 * rooms - 1
    )  # a tree on the rooms opens one passage less than it has rooms
    inner = generate(size, density, generator(seed)).walls[1:-1, 1:-1].sum()
    assert inner == in_maze - int((1 - density) * in_maze)


@few
@given(sizes, seeds)
def test_density_one_is_a_tree_and_zero_a_room(size: int, seed: int) -> None:
    maze, room = (generate(size, density, generator(seed)) for density in (1.0, 0.0))
    assert n_free(maze) - n_edges(maze) == 1
    assert not room.walls[1:-1, 1:-1].any()


@few
@given(sizes, densities, seeds)
def test_same_seed_same_grid(size: int, density: float, seed: int) -> None:
    assert generate(size, density, generator(seed)) == generate(
        size, density, generator(seed)
    )


def test_other_seeds_other_grids() -> None:
    assert len({generate(15, 0.5, generator(seed)) for seed in range(50)}) == 50


@few
@given(
    st.sampled_from([7, 9, 11]), densities, seeds, st.integers(1, 8), st.integers(0, 3)
)
def test_distance_within_bounds(
    size: int, density: float, seed: int, least: int, more: int
) -> None:
    grid = generate(
        size, density, generator(seed), distances=range(least, least + more + 1)
    )
    assert least <= distances(grid, grid.goal)[grid.agent] <= least + more


def test_goal_and_agent_are_uniform() -> None:
    grids = [generate(5, 0.0, generator(seed)) for seed in range(1800)]
    for cells in (
        Counter(grid.goal for grid in grids),
        Counter(grid.agent for grid in grids),
    ):
        assert len(cells) == 9
        # Chi-squared with 8 degrees of freedom: 26.1 is exceeded once in a thousand.
        assert sum((count - 200) ** 2 / 200 for count in cells.values()) < 26.1


def test_no_such_distance() -> None:
    with pytest.raises(
        GdeError,
        match=r"size 5 and density 0.0 with agent and goal 5 to 9 steps apart in 50 attempts: widen",
    ):
        generate(5, 0.0, generator(0), distances=range(5, 10))


GOLDEN = """
  0 1 2 3 4 5 6 7 8
0 # # # # # # # # #
1 # _ # _ _ _ G _ #
2 # _ # _ # _ _ _ #
3 # _ # _ # _ _ _ #
4 # _ _ _ # _ _ _ #
5 # _ _ A # _ _ _ #
6 # # # _ _ _ _ _ #
7 # _ _ _ _ _ _ _ #
8 # # # # # # # # #
"""


def test_a_seed_stays_the_grid_it_is() -> None:
    grid = generate(9, 0.5, generator(7, "grid"))
    assert (
        render_text(grid.rows, grid.agent, grid.goal)
        == GOLDEN.replace("\n", " \n")[2:-1]
    )


PROGRAM = """
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
for size in (5, 11, 25):
    environment = GridEnvironment(GridConfig(size=size))
    print(environment.reset(size).text, environment.world(), environment.task())
"""


def test_same_grid_in_every_process() -> None:
    said = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        said.add(ran.stdout)
    assert len(said) == 1
    assert said.pop().count("\n") > 41


def test_generator_is_the_only_source_of_chance() -> None:
    np.random.seed(1)
    first = generate(9, 0.5, generator(1))
    np.random.seed(2)
    assert generate(9, 0.5, generator(1)) == first
