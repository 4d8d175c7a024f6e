"""Visible cells: Bresenham rays that walls block (Arghal et al. 2026, appendix A)."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position


def visible(
    walls: NDArray[np.bool_], agent: Position, radius: int
) -> NDArray[np.bool_]:
    """Return (height, width) True for the cells that are seen from `agent`.

    Rays go from the agent to every cell on the edge of the square of this radius, cut
    to the grid as in the authors' released code. A ray shows the wall that it hits, and
    nothing behind it. A reflected, rotated or transposed grid shows the reflected,
    rotated or transposed cells.

    Args:
        walls: (height, width) True in walls.
        agent: a cell of the grid.
        radius: rows and columns that the agent sees, at least 1.
    """
    seen = np.zeros_like(walls)
    seen[agent] = True
    height, width = walls.shape
    for end in _edge(height, width, agent, radius):
        for cell in ray(agent, end):
            seen[cell] = True
            if walls[cell]:
                break
    return seen


def ray(start: Position, end: Position) -> Iterator[Position]:
    """Yield the cells of the line between two cells without `start`, by the algorithm
    of Bresenham (1965).

    If a line passes exactly between two cells, it takes the one farther from the start.
    In the other direction it may pass through other cells.
    """
    row, column = start
    end_row, end_column = end
    down = end_row - row
    right = end_column - column
    length = max(abs(down), abs(right))
    for step in range(1, length + 1):
        yield row + _share(down, step, length), column + _share(right, step, length)


def _share(whole: int, step: int, length: int) -> int:
    """Return whole * step / length, rounded; halves away from zero."""
    # Whole numbers, since floats would round mirror images differently.
    size = (2 * abs(whole) * step + length) // (2 * length)
    return size if whole >= 0 else -size


def _edge(height: int, width: int, centre: Position, radius: int) -> Iterator[Position]:
    """Yield the outermost cells of the square around `centre`, as far as it lies in the
    grid.
    """
    row, column = centre
    top = max(row - radius, 0)
    bottom = min(row + radius, height - 1)
    left = max(column - radius, 0)
    right = min(column + radius, width - 1)
    for edge_column in range(left, right + 1):
        yield top, edge_column
        yield bottom, edge_column
    for edge_row in range(top + 1, bottom):
        yield edge_row, left
        yield edge_row, right
