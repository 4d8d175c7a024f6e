"""Iso-difficulty transforms: grids on which every way is as long as before (Arghal et al. 2026, section 4.2).

Each is a rearrangement of the cells, or an exchange of start and goal. What it does to rows, positions and moves is
read off that one rearrangement, so they cannot disagree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.data.json import NONE
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import MOVES

SWAP = "swap"
REARRANGE: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "reflect": np.fliplr,
    "rotate90": np.rot90,
    "rotate180": partial(np.rot90, k=2),
    "rotate270": partial(np.rot90, k=3),
    "transpose": np.transpose,
    SWAP: np.asarray,
}
"""Name to what happens to a (height, width) array. Rotations are counter-clockwise; `swap` moves no cell."""


@dataclass(frozen=True, kw_only=True)
class Transform:
    """Transforms applied one after the other; none of them leaves the grid as it is."""

    steps: tuple[str, ...]

    @classmethod
    def named(cls, name: str) -> "Transform":
        """The transform called "none", e.g. "reflect", or e.g. "reflect+rotate90": first reflected, then rotated.

        Raises:
            ValueError: a name that is unknown.
        """
        steps = () if name == NONE else tuple(name.split("+"))
        if not all(step in REARRANGE for step in steps):
            raise ValueError(f"{NONE}, or one or several of {', '.join(REARRANGE)} joined by +")
        return cls(steps=steps)

    def rearrange(self, cells: NDArray[Any]) -> NDArray[Any]:
        """(height, width) or, turned on its side, (width, height) array with every entry where its cell goes."""
        for step in self.steps:
            cells = REARRANGE[step](cells)
        return cells

    def apply(self, grid: Grid) -> Grid:
        """The transformed grid."""
        symbols = np.array([list(row) for row in grid.rows])
        places = self.places((len(grid.rows), len(grid.rows[0])))
        ends = places[grid.agent], places[grid.goal]
        agent, goal = ends[::-1] if self.steps.count(SWAP) % 2 else ends
        return Grid(rows=tuple("".join(row) for row in self.rearrange(symbols).tolist()), agent=agent, goal=goal)

    def places(self, shape: tuple[int, int]) -> dict[Position, Position]:
        """Where each cell of a grid of this (height, width) goes."""
        numbers = self.rearrange(np.arange(shape[0] * shape[1]).reshape(shape))
        came_from = {int(number): (row, column) for (row, column), number in np.ndenumerate(numbers)}
        return {(number // shape[1], number % shape[1]): place for number, place in came_from.items()}

    @property
    def actions(self) -> tuple[int, ...]:
        """Index of the action that each action of the original becomes, in the order of `dynamics.MOVES`."""
        around = self.places((3, 3))
        moves = list(MOVES.values())
        places = [around[1 + down, 1 + right] for down, right in moves]
        return tuple(moves.index((row - 1, column - 1)) for row, column in places)

    def to_base(self, shape: tuple[int, int]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """The (2, 3) matrix M with M (row, column, 1) = (row, column) in the original of this (height, width)."""
        return _to_base(self, shape)


@lru_cache  # every world of a run asks for the same
def _to_base(transform: Transform, shape: tuple[int, int]) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    back = {place: cell for cell, place in transform.places(shape).items()}
    (row, column), below, beside = back[0, 0], back[1, 0], back[0, 1]
    return (below[0] - row, beside[0] - row, row), (below[1] - column, beside[1] - column, column)
