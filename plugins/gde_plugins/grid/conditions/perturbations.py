"""Perturbations: setbacks, moved goals and distractors (Arghal et al. 2026, appendices A.2 and A.3)."""

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


def perturb(kind: Kind, grid: Grid, start: Position, rng: np.random.Generator) -> Perturbed:
    """Perturb a grid; the goal can be reached afterwards, in one step or more.

    `put_back` sets the agent back to `start`. `close_path` makes a wall of a cell on one of the agent's shortest ways
    to the goal: one that makes the way longer, where there is such a cell. `move_goal` moves the goal to another
    reachable cell, `distractor` puts an irrelevant object on one. Of several cells all are equally likely.

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
    """Steps from agent to goal by the shortest way; inf where there is none."""
    cells = FreeCells.of(grid.walls)
    return float(_steps(cells, grid.goal)[cells.index(grid.agent)])


def on_shortest_ways(grid: Grid) -> list[tuple[Position, int]]:
    """The cells on all shortest ways from agent to goal, both ends included, with their steps from the agent."""
    cells = FreeCells.of(grid.walls)
    from_agent = _steps(cells, grid.agent)
    to_goal = _steps(cells, grid.goal)
    shortest = from_agent[cells.index(grid.goal)]
    between = np.flatnonzero(from_agent + to_goal == shortest)
    return [(_position(cells, state), int(from_agent[state])) for state in between]


def moves_towards(grid: Grid, cell: Position) -> tuple[int, ...]:
    """The moves, as indices into `dynamics.MOVES`, that bring the agent nearer to a cell that it can reach."""
    cells = FreeCells.of(grid.walls)
    steps = _steps(cells, cell)
    here = cells.index(grid.agent)
    is_nearer = steps[cells.successors[here]] < steps[here]
    return tuple(np.flatnonzero(is_nearer).tolist())


def _put_back(grid: Grid, start: Position, _: np.random.Generator) -> Perturbed:
    if grid.agent == start:
        raise NotPossible("the agent is at its start")
    return Perturbed(grid=replace(grid, agent=start))


def _close_path(grid: Grid, _: Position, rng: np.random.Generator) -> Perturbed:
    between = [cell for cell, _ in on_shortest_ways(grid) if cell not in {grid.agent, grid.goal}]
    closed = [_with_wall(grid, cell) for cell in between]
    lengths = np.array([distance(each) for each in closed])
    is_open = np.isfinite(lengths)
    options = np.flatnonzero(is_open & (lengths > distance(grid)))
    if not options.size:
        # No cell makes the way longer: close one of several equally short ways.
        options = np.flatnonzero(is_open)
    if not options.size:
        raise NotPossible("every cell between agent and goal is needed to reach it")
    return Perturbed(grid=closed[int(rng.choice(options))])


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
    """A random cell that can be reached and is neither the agent's nor the goal."""
    cells = FreeCells.of(grid.walls)
    options = np.isfinite(_steps(cells, grid.agent))
    options[[cells.index(grid.agent), cells.index(grid.goal)]] = False
    if not options.any():
        raise NotPossible("no other cell can be reached")
    return _position(cells, rng.choice(np.flatnonzero(options)))


def _with_wall(grid: Grid, cell: Position) -> Grid:
    row, column = cell
    closed = grid.rows[row][:column] + WALL_SYMBOL + grid.rows[row][column + 1 :]
    return replace(grid, rows=(*grid.rows[:row], closed, *grid.rows[row + 1 :]))


def _steps(cells: FreeCells, cell: Position) -> NDArray[np.float64]:
    """(S,) steps between every cell and this one."""
    return steps_to(cells.graph, np.array([cells.index(cell)]))


def _position(cells: FreeCells, state: np.intp) -> Position:
    row, column = cells.positions[state].tolist()
    return row, column
