"""What can be known of a grid, and what is best by it, against a search of another
make.
"""

from collections import deque

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.numerics.tabular import solve
from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.belief import Belief, believe, known_rows
from gde_plugins.grid.solver.dynamics import MOVES, FreeCells, tabulate

few = settings(max_examples=60)
sizes, densities, seeds = (
    st.sampled_from([5, 7, 9]),
    st.floats(0, 1),
    st.integers(0, 2**32),
)
STEPS = list(MOVES.values())


def grid_of(size: int, density: float, seed: int) -> Grid:
    return generate(size, density, np.random.default_rng(seed))


def partly_seen(grid: Grid, seed: int) -> NDArray[np.bool_]:
    """Any cells; the agent always sees itself and its neighbours."""
    rng = np.random.default_rng(seed)
    seen = rng.random(grid.walls.shape) < rng.random()
    row, column = grid.agent
    seen[row - 1 : row + 2, column - 1 : column + 2] = True
    return seen


def reached(
    known: list[str], start: Position, without: Position | None = None
) -> dict[Position, int]:
    """Steps to every cell that may be free by what is known, by breadth-first search
    over symbols.
    """
    last = len(known) - 1

    def open_cell(cell: Position) -> bool:
        inside = 0 < cell[0] < last and 0 < cell[1] < last
        return inside and known[cell[0]][cell[1]] != "#" and cell != without

    steps, queue = {start: 0}, deque([start])
    while queue:
        row, column = queue.popleft()
        for down, right in STEPS:
            cell = (row + down, column + right)
            if open_cell(cell) and cell not in steps:
                steps[cell] = steps[row, column] + 1
                queue.append(cell)
    return steps


def aims_of(known: list[str], goal: Position) -> set[Position]:
    inner = range(1, len(known) - 1)
    unknown = {
        (row, column) for row in inner for column in inner if known[row][column] == "*"
    }
    return {goal} if known[goal[0]][goal[1]] != "*" else unknown


def nearest(known: list[str], cell: Position, aims: set[Position]) -> float:
    return min(
        (steps for place, steps in reached(known, cell).items() if place in aims),
        default=float("inf"),
    )


@few
@given(sizes, densities, seeds)
def test_the_plan_is_the_shortest_on_the_known_map(
    size: int, density: float, seed: int
) -> None:
    grid = grid_of(size, density, seed)
    seen = partly_seen(grid, seed)
    known, belief = known_rows(grid, seen), believe(grid, seen)
    aims = aims_of(known, grid.goal)
    assert belief.aim == ("goal" if seen[grid.goal] else "unknown")
    assert belief.steps == nearest(known, grid.agent, aims)
    for move, (down, right) in enumerate(STEPS):
        ahead = (grid.agent[0] + down, grid.agent[1] + right)
        blocked = grid.rows[ahead[0]][ahead[1]] == "#"
        assert (move in belief.walls) == blocked
        shorter = not blocked and nearest(known, ahead, aims) == belief.steps - 1
        assert (move in belief.optimal) == shorter


@few
@given(sizes, densities, seeds)
def test_a_dead_end_leads_to_nothing_without_coming_back(
    size: int, density: float, seed: int
) -> None:
    grid = grid_of(size, density, seed)
    seen = partly_seen(grid, seed)
    known, belief = known_rows(grid, seen), believe(grid, seen)
    inner = range(1, size - 1)
    hopes = {
        (row, column) for row in inner for column in inner if known[row][column] == "*"
    }
    hopes |= {grid.goal} if seen[grid.goal] else set()
    for move, (down, right) in enumerate(STEPS):
        ahead = (grid.agent[0] + down, grid.agent[1] + right)
        free = grid.rows[ahead[0]][ahead[1]] != "#"
        hopeless = free and hopes.isdisjoint(reached(known, ahead, without=grid.agent))
        assert (move in belief.dead_ends) == hopeless


@few
@given(sizes, densities, seeds)
def test_with_everything_known_the_belief_oracle_is_the_informed_one(
    size: int, density: float, seed: int
) -> None:
    grid = grid_of(size, density, seed)
    belief, solution = (
        believe(grid, np.ones(grid.walls.shape, dtype=bool)),
        solve(tabulate(grid)),
    )
    here = FreeCells.of(grid.walls).index(grid.agent)
    assert belief.optimal == tuple(np.flatnonzero(solution.optimal[here]))
    assert -belief.steps == solution.value[here]


@few
@given(sizes, densities, seeds)
def test_what_has_not_been_seen_is_not_used(
    size: int, density: float, seed: int
) -> None:
    grid = grid_of(size, density, seed)
    seen = partly_seen(grid, seed)
    seen[grid.goal] = False
    other = grid_of(size, 1 - density, seed + 1)
    rows = np.array([list(row) for row in other.rows])
    rows[seen] = np.array([list(row) for row in grid.rows])[seen]
    free = [
        (row, column) for row, column in np.argwhere((rows == "_") & ~seen).tolist()
    ]
    assume(free)
    counterfactual = Grid(
        rows=tuple("".join(row) for row in rows.tolist()),
        agent=grid.agent,
        goal=free[0],
    )
    assert believe(counterfactual, seen) == believe(grid, seen)


CORRIDOR = ("#######", "#_____#", "#_#####", "#_#####", "#######")


def sight(*hidden: Position) -> NDArray[np.bool_]:
    seen = np.ones((5, 7), dtype=bool)
    for cell in hidden:
        seen[cell] = False
    return seen


def test_a_corridor_by_hand() -> None:
    grid = Grid(rows=CORRIDOR, agent=(1, 2), goal=(1, 5))
    up, down, left, right = range(4)
    known = believe(grid, sight())
    assert known == Belief(
        aim="goal", steps=3, optimal=(right,), walls=(up, down), dead_ends=(left,)
    )
    unseen_end = believe(grid, sight((1, 5), (3, 1)))
    assert unseen_end == Belief(
        aim="unknown", steps=3, optimal=(left, right), walls=(up, down), dead_ends=()
    )
    assert known_rows(grid, sight((1, 5)))[1] == "#____*#"


def test_at_the_goal_there_is_nothing_left_to_do() -> None:
    belief = believe(Grid(rows=CORRIDOR, agent=(1, 5), goal=(1, 5)), sight())
    assert (belief.steps, belief.optimal) == (0, ())


def test_nowhere_to_go() -> None:
    cut = (*CORRIDOR[:1], "#__#__#", *CORRIDOR[2:])
    with pytest.raises(
        ValueError,
        match=r"from \(1, 1\) neither the goal nor any unknown cell can be reached",
    ):
        believe(Grid(rows=cut, agent=(1, 1), goal=(1, 5)), sight())
