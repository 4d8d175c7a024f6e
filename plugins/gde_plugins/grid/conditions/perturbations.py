"""Perturbations: setbacks, moved goals and distractors (Arghal et al. 2026, appendices
A.2 and A.3).
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gde.data.cell_map import Position
from gde_plugins.grid.grid import Grid, with_wall
from gde_plugins.grid.solver.dynamics import around, as_position, steps_to

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
    if kind == "put_back":
        if grid.agent == start:
            raise NotPossible("the agent is at its start")
        return Perturbed(grid=replace(grid, agent=start))
    if kind == "close_path":
        return Perturbed(grid=_with_closed_path(grid, rng))

    elsewhere = _elsewhere(grid, rng)
    if kind == "move_goal":
        return Perturbed(grid=replace(grid, goal=elsewhere))
    return Perturbed(grid=grid, distractor=elsewhere)


def distance(grid: Grid) -> float:
    """Return the length of the shortest way from agent to goal; inf if there is
    none.
    """
    steps = steps_to(grid.walls, [grid.goal])
    return float(steps[grid.agent])


def on_shortest_ways(grid: Grid) -> list[tuple[Position, int]]:
    """Return the cells on all shortest ways from agent to goal, both ends included,
    with their steps from the agent.
    """
    from_agent = steps_to(grid.walls, [grid.agent])
    to_goal = steps_to(grid.walls, [grid.goal])
    # A cell lies on a shortest way if the detour over it costs nothing.
    is_between = from_agent + to_goal == from_agent[grid.goal]
    cells = [as_position(cell) for cell in np.argwhere(is_between)]
    return [(cell, int(from_agent[cell])) for cell in cells]


def moves_towards(grid: Grid, cell: Position) -> tuple[int, ...]:
    """Return the moves, as indices into `dynamics.MOVES`, that bring the agent nearer
    to a reachable cell.
    """
    steps = steps_to(grid.walls, [cell])
    is_nearer = steps[around(grid.agent)] < steps[grid.agent]
    return tuple(np.flatnonzero(is_nearer).tolist())


def _with_closed_path(grid: Grid, rng: np.random.Generator) -> Grid:
    before = distance(grid)
    longer: list[Grid] = []
    still_open: list[Grid] = []
    for cell, _ in on_shortest_ways(grid):
        if cell in {grid.agent, grid.goal}:
            continue
        closed = replace(grid, rows=with_wall(grid.rows, cell))
        length = distance(closed)
        if np.isfinite(length):
            still_open.append(closed)
            if length > before:
                longer.append(closed)

    # If no cell makes the way longer, close one of several equally short ways.
    options = longer or still_open
    if not options:
        raise NotPossible("every cell between agent and goal is needed to reach it")
    return options[int(rng.choice(len(options)))]


def _elsewhere(grid: Grid, rng: np.random.Generator) -> Position:
    """Return a random reachable cell other than those of agent and goal."""
    is_option = np.isfinite(steps_to(grid.walls, [grid.agent]))
    is_option[grid.agent] = False
    is_option[grid.goal] = False
    options = np.argwhere(is_option)
    if not len(options):
        raise NotPossible("no other cell can be reached")
    return as_position(rng.choice(options))
