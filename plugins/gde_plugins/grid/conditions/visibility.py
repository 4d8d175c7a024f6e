"""Visible cells: Bresenham rays that walls block (Arghal et al. 2026, appendix A)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position


def visible(walls: NDArray[np.bool_], agent: Position, radius: int) -> NDArray[np.bool_]:
    """(height, width) True for the cells that are seen from `agent`.

    Rays go from the agent to every cell on the edge of the square of this radius, cut to the grid as in the
    authors' released code; the wall that a ray hits is seen, nothing behind it is. What is seen in a reflected, rotated
    or transposed grid is the reflection, rotation or transpose of what is seen in the grid.

    Args:
        walls: (height, width) True where a wall is.
        agent: a cell of the grid.
        radius: rows and columns that the eye reaches, at least 1.
    """
    seen = np.zeros_like(walls)
    seen[agent] = True
    for end in _edge(walls.shape[0], walls.shape[1], agent, radius):
        for cell in ray(agent, end):
            seen[cell] = True
            if walls[cell]:
                break
    return seen


def ray(start: Position, end: Position) -> Iterator[Position]:
    """The cells of the line between two cells, `start` left out, by the algorithm of Bresenham (1965).

    Where a line passes exactly between two cells, it takes the one farther from the start: backwards it may pass
    through other cells.
    """
    down = end[0] - start[0]
    right = end[1] - start[1]
    length = max(abs(down), abs(right))
    for step in range(1, length + 1):
        yield start[0] + _share(down, step, length), start[1] + _share(right, step, length)


def _share(whole: int, step: int, length: int) -> int:
    """whole * step / length, rounded; halves away from zero."""
    size = (2 * abs(whole) * step + length) // (2 * length)
    return size if whole >= 0 else -size


def _edge(height: int, width: int, centre: Position, radius: int) -> Iterator[Position]:
    """The outermost cells of the square around `centre`, as far as it lies in the grid."""
    top = max(centre[0] - radius, 0)
    bottom = min(centre[0] + radius, height - 1)
    left = max(centre[1] - radius, 0)
    right = min(centre[1] + radius, width - 1)
    for row in range(top, bottom + 1):
        # The first and last row are edge in full, the others at both ends.
        columns = range(left, right + 1) if row in (top, bottom) else (left, right)
        for column in columns:
            yield row, column
