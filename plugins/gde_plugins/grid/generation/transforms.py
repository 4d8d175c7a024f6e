"""Iso-difficulty transforms: grids on which every way is as long as before (Arghal et
al. 2026, section 4.2).

Each is a rearrangement of the cells, or an exchange of start and goal. What it does to
rows, positions and moves is read off that one rearrangement, so they cannot disagree.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.data.json import NONE, Json
from gde_plugins.grid.grid import Grid

SWAP = "swap"
REARRANGE: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "reflect": np.fliplr,
    "rotate90": np.rot90,
    "rotate180": partial(np.rot90, k=2),
    "rotate270": partial(np.rot90, k=3),
    "transpose": np.transpose,
    SWAP: np.asarray,
}
"""Name to what happens to a (height, width) array. Rotations are counter-clockwise;
`swap` moves no cell.
"""


@dataclass(frozen=True, kw_only=True)
class Transform:
    """Transforms applied one after the other; none of them leaves the grid as it is."""

    steps: tuple[str, ...]

    @classmethod
    def named(cls, name: str) -> "Transform":
        """Return the transform of a name such as "none", "reflect" or
        "reflect+rotate90" (applied from the left).

        Raises:
            ValueError: a name that is unknown.
        """
        if name == NONE:
            return cls(steps=())
        steps = tuple(name.split("+"))
        for step in steps:
            if step not in REARRANGE:
                raise ValueError(
                    f"{NONE}, or one or several of {', '.join(REARRANGE)} joined by +"
                )
        return cls(steps=steps)

    @property
    def swaps(self) -> bool:
        """Whether start and goal are exchanged: two swaps cancel each other."""
        return self.steps.count(SWAP) % 2 == 1

    def rearrange(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Move every entry of a (height, width) array to the new place of its cell; the
        result may be transposed.
        """
        for step in self.steps:
            cells = REARRANGE[step](cells)
        return cells

    def apply(self, grid: Grid) -> Grid:
        """Transform a grid."""
        if not self.steps:
            return grid
        symbols = np.array([list(row) for row in grid.rows])
        rearranged = self.rearrange(symbols)
        rows = tuple("".join(row) for row in rearranged.tolist())

        height, width = symbols.shape
        places = self.places((height, width))
        agent = places[grid.agent]
        goal = places[grid.goal]
        if self.swaps:
            agent, goal = goal, agent
        return Grid(rows=rows, agent=agent, goal=goal)

    def places(self, shape: tuple[int, int]) -> dict[Position, Position]:
        """Return the new place of each cell of a (height, width) grid."""
        height, width = shape
        numbers = np.arange(height * width).reshape(shape)
        rearranged = self.rearrange(numbers)

        places: dict[Position, Position] = {}
        for (row, column), number in np.ndenumerate(rearranged):
            cell = divmod(int(number), width)
            places[cell] = (row, column)
        return places

    def to_base(self, original: Grid) -> list[Json]:
        """Return the (2, 3) matrix M with M (row, column, 1) = (row, column) in the
        original grid.
        """
        matrix: list[Json] = []
        for indices in np.indices(original.walls.shape):
            # The map is affine, so three cells determine it: the corner is the offset,
            # its neighbours give the two directions.
            found = self.rearrange(np.asarray(indices))
            corner = int(found[0, 0])
            below = int(found[1, 0]) - corner
            beside = int(found[0, 1]) - corner
            matrix.append([below, beside, corner])
        return matrix
