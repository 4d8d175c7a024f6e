"""What a perturbation does to a grid, checked against searches on the grid itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde.data.cell_map import Position
from gde_plugins.grid.conditions.perturbed import (
    Kind,
    NotPossible,
    Perturbed,
    distance,
    moves_towards,
    on_shortest_ways,
    perturb,
)
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import MOVES, FreeCells

few = settings(max_examples=60)
sizes, densities, seeds = (
    st.sampled_from([5, 7, 9]),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
KINDS: tuple[Kind, ...] = ("put_back", "close_path", "move_goal", "distractor")


def grid_of(size: int, density: float, seed: int) -> Grid:
    return generate(size, density, np.random.default_rng(seed))


def after(
    kind: Kind, grid: Grid, seed: int = 0, start: Position = (0, 0)
) -> Perturbed | None:
    try:
        return perturb(kind, grid, start, np.random.default_rng(seed))
    except NotPossible:
        return None


def walls_added(before: Grid, now: Grid) -> list[Position]:
    return [
        (row, column) for row, column in np.argwhere(before.walls != now.walls).tolist()
    ]


def distance_between(grid: Grid, cell: Position, other: Position) -> float:
    return distance(Grid(rows=grid.rows, agent=cell, goal=other))


@few
@given(sizes, densities, seeds)
def test_the_cells_on_shortest_ways_are_those_whose_detour_is_none(
    size: int, density: float, seed: int
) -> None:
    grid = grid_of(size, density, seed)
    found = dict(on_shortest_ways(grid))
    for row, column in FreeCells.of(grid.walls).positions.tolist():
        behind = distance_between(grid, grid.agent, (row, column))
        on_way = behind + distance_between(grid, (row, column), grid.goal) == distance(
            grid
        )
        assert found.get((row, column)) == (behind if on_way else None)


@pytest.mark.parametrize("kind", KINDS)
@few
@given(sizes, densities, seeds, seeds)
def test_the_goal_stays_apart_and_in_reach(
    kind: Kind, size: int, density: float, seed: int, draw: int
) -> None:
    grid = grid_of(size, density, seed)
    start = (1, 1) if grid.rows[1][1] == "_" and grid.goal != (1, 1) else grid.agent
    change = after(kind, grid, draw, start)
    if change is not None:
        assert 1 <= distance(change.grid) < np.inf
        assert change == after(kind, grid, draw, start)
        assert (change.distractor is not None) == (kind == "distractor")


@few
@given(sizes, densities, seeds, seeds)
def test_a_closed_path_is_one_wall_on_the_way_that_costs_steps_if_any_can(
    size: int, density: float, seed: int, draw: int
) -> None:
    grid = grid_of(size, density, seed)
    between = {cell for cell, _ in on_shortest_ways(grid)} - {grid.agent, grid.goal}
    lengths = {}
    for row, column in between:
        rows = [list(line) for line in grid.rows]
        rows[row][column] = "#"
        lengths[row, column] = distance(
            Grid(
                rows=tuple("".join(line) for line in rows),
                agent=grid.agent,
                goal=grid.goal,
            )
        )
    possible = {cell for cell, steps in lengths.items() if steps < np.inf}
    longer = {cell for cell in possible if lengths[cell] > distance(grid)}
    change = after("close_path", grid, draw)
    assert (change is None) == (not possible)
    if change is not None:
        (closed,) = walls_added(grid, change.grid)
        assert closed in (longer or possible)
        assert (change.grid.agent, change.grid.goal) == (grid.agent, grid.goal)


def test_every_cell_that_may_be_drawn_is_drawn() -> None:
    grid = Grid(
        rows=("######", "#____#", "#____#", "######"), agent=(1, 1), goal=(2, 4)
    )
    others = {(row, column) for row in (1, 2) for column in range(1, 5)} - {
        (1, 1),
        (2, 4),
    }
    moved = [after("move_goal", grid, seed) for seed in range(100)]
    assert {change.grid.goal for change in moved if change} == others
    assert {
        change.distractor
        for seed in range(100)
        if (change := after("distractor", grid, seed))
    } == others
    closed = [
        change for seed in range(100) if (change := after("close_path", grid, seed))
    ]
    assert {walls_added(grid, change.grid)[0] for change in closed} == others
    assert {distance(change.grid) for change in closed} == {4.0}


CORRIDOR = Grid(rows=("#####", "#___#", "#####"), agent=(1, 2), goal=(1, 3))


def test_what_cannot_happen_says_why() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(NotPossible, match="the agent is at its start"):
        perturb("put_back", CORRIDOR, (1, 2), rng)
    with pytest.raises(
        NotPossible, match="every cell between agent and goal is needed to reach it"
    ):
        perturb("close_path", CORRIDOR, (1, 1), rng)
    tight = Grid(rows=("####", "#__#", "####"), agent=(1, 1), goal=(1, 2))
    for kind in ("move_goal", "distractor"):
        with pytest.raises(NotPossible, match="no other cell can be reached"):
            perturb(kind, tight, (1, 1), rng)


def test_the_agent_is_put_back() -> None:
    change = perturb("put_back", CORRIDOR, (1, 1), np.random.default_rng(0))
    assert change.grid == Grid(rows=CORRIDOR.rows, agent=(1, 1), goal=(1, 3))


@few
@given(sizes, densities, seeds)
def test_moves_towards_a_cell_bring_it_nearer(
    size: int, density: float, seed: int
) -> None:
    grid = grid_of(size, density, seed)
    towards = moves_towards(grid, grid.goal)
    for move, (down, right) in enumerate(MOVES.values()):
        row, column = grid.agent[0] + down, grid.agent[1] + right
        free = grid.rows[row][column] == "_"
        assert (move in towards) == (
            free and distance_between(grid, (row, column), grid.goal) < distance(grid)
        )
    assert moves_towards(grid, grid.agent) == ()
