"""minigrid's field of view: the 7 x 7 cells ahead, without hidden ones.

Walls and doors hide the cells behind them.
"""

from minigrid.core.grid import Grid
from minigrid.core.world_object import Wall

from gde_plugins.babyai.worlds.scene import STEPS, WALL, Door
from gde_plugins.babyai.worlds.simulation import Simulation

SIZE = 7
"""Cells along a side; the agent stands in the middle of the nearest row."""


def seen_cells(now: Simulation) -> frozenset[int]:
    """Return the cells in sight, that of the agent included."""
    scene = now.scene
    agent_x, agent_y = scene.place(now.position)
    ahead_x, ahead_y = STEPS[now.direction]
    right_x, right_y = STEPS[(now.direction + 1) % 4]

    # minigrid's algorithm runs on a grid of its own, with a wall for all that hides.
    view = Grid(SIZE, SIZE)
    cells = {}
    for column in range(SIZE):
        for row in range(SIZE):
            side = column - SIZE // 2
            far = SIZE - 1 - row
            x = agent_x + far * ahead_x + side * right_x
            y = agent_y + far * ahead_y + side * right_y
            hides = True
            if 0 <= x < scene.width and 0 <= y < scene.height:
                cell = scene.cell(x, y)
                cells[column, row] = cell
                content = now.cells[cell]
                is_shut = content >= 0 and now.doors[content] > Door.OPEN
                hides = content == WALL or is_shut
            if hides:
                view.set(column, row, Wall())

    lit = view.process_vis((SIZE // 2, SIZE - 1))
    return frozenset(cell for place, cell in cells.items() if lit[place])
