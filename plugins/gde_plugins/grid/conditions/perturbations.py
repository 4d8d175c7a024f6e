"""Perturbations: setbacks, moved goals and distractors (Arghal et al. 2026, appendices
A.2 and A.3).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.numerics.tabular import steps_to
from gde_plugins.grid.grid import WALL_SYMBOL, Grid
from gde_plugins.grid.solver.dynamics import FreeCells

Kind = Literal["put_back", "close_path", "move_goal", "distractor"]


class NotPossible(Exception):
    """The perturbation cannot happen to this grid; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Perturbed:
    """A grid after its perturbation."""

    grid: Grid
    distractor: Position | None = None
    """Cell of an irrelevant object."""


def perturb(
    kind: Kind, grid: Grid, start: Position, rng: np.random.Generator
) -> Perturbed:
    """Perturb a grid; the goal can be reached afterwards, in one step or more.

    `put_back` sets the agent back to `start`. `close_path` makes a wall of a cell on
    one of the agent's shortest ways to the goal: one that makes the way longer, where
    there is such a cell. `move_goal` moves the goal to another reachable cell,
    `distractor` puts an irrelevant object on one. Of several cells all are equally
    likely.

    Args:
        kind: the perturbation.
        grid: the present grid; the goal can be reached.
        start: first cell of the agent.
        rng: the only source of chance.

    Raises:
        NotPossible: there is no such cell, or the agent is still at `start`.
    """
    return _APPLY[kind](grid, start, rng)


def distance(grid: Grid) -> float:
    """Return the length of the shortest way from agent to goal; inf if there is
    none.
    """
    cells = FreeCells.of(grid.walls)
    steps = _steps(cells, grid.goal)
    agent = cells.index(grid.agent)
    return float(steps[agent])


def on_shortest_ways(grid: Grid) -> list[tuple[Position, int]]:
    """Return the cells on all shortest ways from agent to goal, both ends included,
    with their steps from the agent.
    """
    cells = FreeCells.of(grid.walls)
    from_agent = _steps(cells, grid.agent)
    to_goal = _steps(cells, grid.goal)
    goal = cells.index(grid.goal)

    # A cell lies on a shortest way if the detour over it costs nothing.
    is_between = from_agent + to_goal == from_agent[goal]
    found = []
    for state in np.flatnonzero(is_between):
        n_steps = int(from_agent[state])
        found.append((_position(cells, state), n_steps))
    return found


def moves_towards(grid: Grid, cell: Position) -> tuple[int, ...]:
    """Return the moves, as indices into `dynamics.MOVES`, that bring the agent nearer
    to a reachable cell.
    """
    cells = FreeCells.of(grid.walls)
    steps = _steps(cells, cell)
    here = cells.index(grid.agent)
    ahead = cells.successors[here]
    is_nearer = steps[ahead] < steps[here]
    return tuple(np.flatnonzero(is_nearer).tolist())


def _put_back(grid: Grid, start: Position, _: np.random.Generator) -> Perturbed:
    if grid.agent == start:
        raise NotPossible("the agent is at its start")
    return Perturbed(grid=replace(grid, agent=start))


def _close_path(grid: Grid, _: Position, rng: np.random.Generator) -> Perturbed:
    before = distance(grid)
    longer: list[Grid] = []
    still_open: list[Grid] = []
    between = [cell for cell, _ in on_shortest_ways(grid)]
    for cell in between:
        if cell in {grid.agent, grid.goal}:
            continue
        closed = _with_wall(grid, cell)
        length = distance(closed)
        if np.isfinite(length):
            still_open.append(closed)
            if length > before:
                longer.append(closed)

    # If no cell makes the way longer, close one of several equally short ways.
    options = longer or still_open
    if not options:
        raise NotPossible("every cell between agent and goal is needed to reach it")
    chosen = int(rng.choice(len(options)))
    return Perturbed(grid=options[chosen])


def _move_goal(grid: Grid, _: Position, rng: np.random.Generator) -> Perturbed:
    return Perturbed(grid=replace(grid, goal=_elsewhere(grid, rng)))


def _distract(grid: Grid, _: Position, rng: np.random.Generator) -> Perturbed:
    return Perturbed(grid=grid, distractor=_elsewhere(grid, rng))


_APPLY: Mapping[Kind, Callable[[Grid, Position, np.random.Generator], Perturbed]] = {
    "put_back": _put_back,
    "close_path": _close_path,
    "move_goal": _move_goal,
    "distractor": _distract,
}


def _elsewhere(grid: Grid, rng: np.random.Generator) -> Position:
    """Return a random reachable cell other than those of agent and goal."""
    cells = FreeCells.of(grid.walls)
    is_option = np.isfinite(_steps(cells, grid.agent))
    is_option[cells.index(grid.agent)] = False
    is_option[cells.index(grid.goal)] = False
    options = np.flatnonzero(is_option)
    if not options.size:
        raise NotPossible("no other cell can be reached")
    return _position(cells, rng.choice(options))


def _with_wall(grid: Grid, cell: Position) -> Grid:
    row, column = cell
    symbols = [*grid.rows[row]]
    symbols[column] = WALL_SYMBOL
    rows = [*grid.rows]
    rows[row] = "".join(symbols)
    return replace(grid, rows=tuple(rows))


def _steps(cells: FreeCells, cell: Position) -> NDArray[np.float64]:
    """Return (S,) the steps between every cell and this one."""
    return steps_to(cells.graph, np.array([cells.index(cell)]))


def _position(cells: FreeCells, state: np.intp) -> Position:
    row, column = cells.positions[state].tolist()
    return row, column
