"""minigrid's limited field of view: the 7 x 7 cells ahead of the agent, without those
behind walls and doors.
"""

from gde_plugins.babyai.worlds.scene import STEPS, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

SIZE = 7
"""Cells along a side; the agent stands in the middle of the nearest row."""


def seen_cells(now: Simulation) -> frozenset[int]:
    """Return the cells in sight, that of the agent included, as minigrid's observations
    have them.

    Light spreads row by row away from the agent, sideways and ahead, until something
    stops it.
    """
    cells = _view(now)
    lit = [[False] * SIZE for _ in range(SIZE)]
    lit[0][SIZE // 2] = True
    for row in range(SIZE):
        # minigrid goes through a row twice, so that light reaches both sides.
        for column in range(SIZE - 1):
            if lit[row][column] and _is_transparent(now, cells[row][column]):
                _spread(lit, row, column, 1)
        for column in range(SIZE - 1, 0, -1):
            if lit[row][column] and _is_transparent(now, cells[row][column]):
                _spread(lit, row, column, -1)

    seen = set()
    for row in range(SIZE):
        for column in range(SIZE):
            cell = cells[row][column]
            if lit[row][column] and cell is not None:
                seen.add(cell)
    return frozenset(seen)


def _view(now: Simulation) -> list[list[int | None]]:
    """Return the cells ahead, row by row away from the agent, each from left to right;
    None outside the grid.
    """
    scene = now.scene
    agent_x, agent_y = scene.place(now.position)
    ahead_x, ahead_y = STEPS[now.direction]
    right_x, right_y = STEPS[(now.direction + 1) % 4]
    view: list[list[int | None]] = []
    for far in range(SIZE):
        row: list[int | None] = []
        for side in range(-(SIZE // 2), SIZE // 2 + 1):
            x = agent_x + far * ahead_x + side * right_x
            y = agent_y + far * ahead_y + side * right_y
            is_inside = 0 <= x < scene.width and 0 <= y < scene.height
            row.append(scene.cell(x, y) if is_inside else None)
        view.append(row)
    return view


def _spread(lit: list[list[bool]], row: int, column: int, side: int) -> None:
    lit[row][column + side] = True
    if row + 1 < SIZE:
        lit[row + 1][column] = True
        lit[row + 1][column + side] = True


def _is_transparent(now: Simulation, cell: int | None) -> bool:
    # Outside the grid minigrid puts walls.
    if cell is None:
        return False
    content = now.cells[cell]
    if content < 0:
        return content != WALL
    return now.doors[content] < 0 or now.doors[content] == Door.OPEN
