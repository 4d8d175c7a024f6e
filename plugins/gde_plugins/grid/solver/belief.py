"""The belief oracle: what is best to do when only part of a grid is known.

The oracle takes every cell that it has not seen for free and walks the shortest way on
the map that this gives, to the goal if it has seen it, to the nearest cell that it has
not seen otherwise; with every new cell it plans again (the freespace assumption and
greedy mapping, Koenig et al. 2003). The least expected number of steps would need a
prior over grids and cannot be computed on grids of any size, so this is a reference,
not an optimum. It always arrives: every step either shows something new or leaves one
step less to go.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gde.data.arrays import Bools
from gde.data.cell_map import Position
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import around, steps_to

Mask = Bools
UNKNOWN_SYMBOL = "*"


@dataclass(frozen=True, kw_only=True)
class Belief:
    """Knowledge about the actions in one cell; actions are indices into
    `dynamics.MOVES`.
    """

    aim: Literal["goal", "unknown"]
    """Target of the oracle."""
    steps: int
    """Length of the oracle's plan, if all that is unknown is free."""
    optimal: tuple[int, ...]
    """First steps of all shortest plans; empty at the goal."""
    walls: tuple[int, ...]
    """Moves into a wall that is known to be one."""
    dead_ends: tuple[int, ...]
    """Moves to a cell from where neither the goal nor an unknown cell can be reached
    but by coming back.
    """


def believe(grid: Grid, seen: Mask) -> Belief:
    """Judge the actions at `grid.agent` by the known part of a grid.

    Args:
        grid: the truth; nothing is read of it outside `seen` but that the outermost
            cells are walls.
        seen: (height, width) True where a cell has been seen; the agent's own cell is.

    Raises:
        ValueError: no goal and no unknown cell can be reached on the known map.
    """
    edge = np.ones_like(seen)
    edge[1:-1, 1:-1] = False
    # Unknown cells count as free here, except for the border.
    walls = (grid.walls & seen) | edge
    unknown = ~seen & ~edge
    hopes = unknown.copy()
    hopes[grid.goal] = True

    sees_goal = bool(seen[grid.goal])
    aims = [grid.goal] if sees_goal else np.argwhere(unknown)
    steps = steps_to(walls, aims)
    n_steps = steps[grid.agent]
    if np.isinf(n_steps):
        raise ValueError(
            f"from {grid.agent} neither the goal nor any unknown cell can be reached"
        )

    ahead = around(grid.agent)
    return Belief(
        aim="goal" if sees_goal else "unknown",
        steps=int(n_steps),
        optimal=_indices(steps[ahead] == n_steps - 1),
        walls=_indices(walls[ahead]),
        dead_ends=_indices(_closed(walls, hopes, grid.agent)),
    )


def known_rows(grid: Grid, seen: Mask) -> list[str]:
    """Return the rows with `*` for every cell that has not been seen."""
    symbols = np.array([list(row) for row in grid.rows])
    known = np.where(seen, symbols, UNKNOWN_SYMBOL)
    return ["".join(row) for row in known.tolist()]


def _closed(walls: Mask, hopes: Mask, agent: Position) -> Mask:
    """Return (A,) True if the cell ahead is free and, without the agent's cell, cut off
    from every hope.
    """
    # The import takes a tenth of a second, and only grids that are seen in part need
    # it.
    from scipy.ndimage import label

    passable = ~walls
    passable[agent] = False
    regions, _ = label(passable)
    hopeful = np.unique(regions[hopes & ~walls])

    ahead = regions[around(agent)]
    # Region 0 is walls and the agent's own cell.
    closed: Mask = (ahead > 0) & ~np.isin(ahead, hopeful)
    return closed


def _indices(flags: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(flags).tolist())
