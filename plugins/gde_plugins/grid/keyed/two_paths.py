"""Two equally short ways from agent to goal (Arghal et al. 2026, section 4.3,
2PathKeyEnv).
"""

from collections.abc import Sequence

import numpy as np

from gde.data.cell_map import Position
from gde_plugins.grid.grid import rows_of
from gde_plugins.grid.keyed.scene import Scene
from gde_plugins.grid.solver.dynamics import as_position

LAYOUTS = ("horizontal", "vertical", "diamond")
Corners = list[Position]
"""Cells in which a way begins, turns and ends."""


def draw_two_paths(size: int, rng: np.random.Generator) -> Scene:
    """Draw one of three layouts, with an object on a random cell that only one of its
    two ways has.

    Horizontal and vertical: from the middle of one side to that of the opposite one,
    around either side of a block. Diamond: along a common stem, then around either side
    of a smaller block.

    Args:
        size: rows and columns, outer wall included; odd, at least 9.
        rng: the only source of chance.
    """
    layout = LAYOUTS[int(rng.integers(len(LAYOUTS)))]
    if layout == "diamond":
        corners = _diamond(size, rng)
    else:
        corners = _around_a_block(size, rng)

    # The second way is the mirror image of the first in the middle row.
    mirrored = [(size - 1 - row, column) for row, column in corners]
    ways = [_cells(corners), _cells(mirrored)]
    walls = np.ones((size, size), dtype=bool)
    for way in ways:
        for place in way:
            walls[place] = False

    # On a shared cell, every agent would take the object without choosing a way.
    side = int(rng.integers(2))
    own = ways[side]
    other = ways[1 - side]
    exclusive = [place for place in own if place not in other]
    place = as_position(rng.choice(np.array(exclusive)))

    scene = Scene(
        layout=layout,
        rows=rows_of(walls),
        agent=corners[0],
        goal=corners[-1],
        place=place,
    )
    if layout == "vertical":
        scene = _transposed(scene)
    return scene


def _around_a_block(size: int, rng: np.random.Generator) -> Corners:
    middle = size // 2
    last = size - 2
    greatest = min(4, size // 3)
    row = middle - int(rng.integers(2, greatest + 1))
    return [(middle, 1), (row, 1), (row, last), (middle, last)]


def _diamond(size: int, rng: np.random.Generator) -> Corners:
    middle = size // 2
    margin = max(2, size // 4)
    top = int(rng.integers(2, margin + 1))
    left = int(rng.integers(2, margin + 1))
    right = size - 1 - int(rng.integers(2, margin + 1))
    return [
        (middle, left),
        (middle, middle),
        (top, middle),
        (top, right),
        (middle, right),
    ]


def _cells(corners: Sequence[Position]) -> list[Position]:
    """Return every cell of the way, in order."""
    row, column = corners[0]
    way = [(row, column)]
    for to_row, to_column in corners[1:]:
        # Either the row or the column changes between two corners.
        down = np.sign(to_row - row)
        right = np.sign(to_column - column)
        while (row, column) != (to_row, to_column):
            row += int(down)
            column += int(right)
            way.append((row, column))
    return way


def _transposed(scene: Scene) -> Scene:
    columns = zip(*scene.rows, strict=True)
    return Scene(
        layout=scene.layout,
        rows=tuple("".join(column) for column in columns),
        agent=scene.agent[::-1],
        goal=scene.goal[::-1],
        place=scene.place[::-1],
    )
