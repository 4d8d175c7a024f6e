"""What an agent with minigrid's limited field of view sees: 7 x 7 cells ahead of it, not through walls and doors."""

from gde_plugins.babyai.worlds.scene import STEPS, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

SIZE = 7
"""Cells along a side; the agent stands in the middle of the nearest row."""


def seen_cells(now: Simulation) -> frozenset[int]:
    """The cells in sight: light spreads row by row away from the agent, sideways and ahead, up to what it cannot pass.

    The rule of minigrid's own observations, the cell that the agent stands in included.
    """
    cells = _view(now)
    lit = [[False] * SIZE for _ in range(SIZE)]
    lit[0][SIZE // 2] = True
    for row in range(SIZE):
        for column in range(SIZE - 1):
            if lit[row][column] and _passes(now, cells[row][column]):
                _spread(lit, row, column, 1)
        for column in range(SIZE - 1, 0, -1):
            if lit[row][column] and _passes(now, cells[row][column]):
                _spread(lit, row, column, -1)
    lighted = zip((seen for row in lit for seen in row), (cell for row in cells for cell in row), strict=True)
    return frozenset(cell for seen, cell in lighted if seen and cell is not None)


def _view(now: Simulation) -> list[list[int | None]]:
    """The cells ahead, row by row away from the agent, each from its left to its right; None outside the grid."""
    scene = now.scene
    x, y = scene.place(now.position)
    (ahead_x, ahead_y), (right_x, right_y) = STEPS[now.direction], STEPS[(now.direction + 1) % 4]
    view: list[list[int | None]] = []
    for far in range(SIZE):
        row: list[int | None] = []
        for side in range(-(SIZE // 2), SIZE // 2 + 1):
            i, j = x + far * ahead_x + side * right_x, y + far * ahead_y + side * right_y
            row.append(scene.cell(i, j) if 0 <= i < scene.width and 0 <= j < scene.height else None)
        view.append(row)
    return view


def _spread(lit: list[list[bool]], row: int, column: int, side: int) -> None:
    lit[row][column + side] = True
    if row + 1 < SIZE:
        lit[row + 1][column] = lit[row + 1][column + side] = True


def _passes(now: Simulation, cell: int | None) -> bool:
    """Whether light goes on from a cell. Outside the grid minigrid puts walls."""
    if cell is None:
        return False
    inside = now.cells[cell]
    return inside != WALL and (inside < 0 or now.doors[inside] < 0 or now.doors[inside] == Door.OPEN)
