"""Two equally short ways from agent to goal (Arghal et al. 2026, section 4.3, 2PathKeyEnv)."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from gde.data.cell_map import Position
from gde_plugins.grid.keyed.scene import Scene, cell, rows_of

LAYOUTS = ("horizontal", "vertical", "diamond")
Corners = list[Position]
"""Where a way begins, turns and ends."""


def draw_two_paths(size: int, rng: np.random.Generator) -> Scene:
    """Draw one of three layouts, with an object on a random cell that only one of its two ways has.

    Horizontal and vertical: from the middle of one side to that of the opposite one, around either side of a block.
    Diamond: along a common stem, then around either side of a smaller block.

    Args:
        size: rows and columns, outer wall included; odd, at least 9.
        rng: the only source of chance.
    """
    layout = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    corners = _diamond(size, rng) if layout == "diamond" else _around_a_block(size, rng)
    # The second way is the mirror image of the first in the middle row.
    mirrored = [(size - 1 - row, column) for row, column in corners]
    ways = [_cells(corners), _cells(mirrored)]
    walls = np.ones((size, size), dtype=bool)
    for place in (*ways[0], *ways[1]):
        walls[place] = False

    side = int(rng.integers(2))
    exclusive = [place for place in ways[side] if place not in ways[1 - side]]
    scene = Scene(
        layout=layout,
        rows=rows_of(walls),
        agent=corners[0],
        goal=corners[-1],
        place=cell(rng.choice(np.array(exclusive))),
    )
    return _transposed(scene) if layout == "vertical" else scene


def _around_a_block(size: int, rng: np.random.Generator) -> Corners:
    middle = size // 2
    last = size - 2
    row = middle - int(rng.integers(2, min(4, size // 3) + 1))
    return [(middle, 1), (row, 1), (row, last), (middle, last)]


def _diamond(size: int, rng: np.random.Generator) -> Corners:
    middle = size // 2
    margin = max(2, size // 4)
    top = int(rng.integers(2, margin + 1))
    left = int(rng.integers(2, margin + 1))
    right = int(rng.integers(2, margin + 1))
    return [(middle, left), (middle, middle), (top, middle), (top, size - 1 - right), (middle, size - 1 - right)]


def _cells(corners: Sequence[Position]) -> list[Position]:
    """Every cell of the way, in order."""
    way = [corners[0]]
    for (row, column), (to_row, to_column) in pairwise(corners):
        n_steps = abs(to_row - row) + abs(to_column - column)
        down = (to_row - row) // n_steps
        right = (to_column - column) // n_steps
        way.extend((row + step * down, column + step * right) for step in range(1, n_steps + 1))
    return way


def _transposed(scene: Scene) -> Scene:
    return Scene(
        layout=scene.layout,
        rows=tuple("".join(column) for column in zip(*scene.rows, strict=True)),
        agent=scene.agent[::-1],
        goal=scene.goal[::-1],
        place=scene.place[::-1],
    )
