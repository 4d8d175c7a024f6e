"""A grid as MiniGrid (Chevalier-Boisvert et al. 2023) draws it."""

import numpy as np
from minigrid.core.grid import Grid as MiniGrid
from minigrid.core.world_object import Goal, Wall
from numpy.typing import NDArray

from gde_plugins.grid.grid import Grid

TILE = 32
"""Pixels a cell."""
FACING_RIGHT = 0
"""MiniGrid's agent looks somewhere; ours does not, so it is always drawn alike."""


def draw(grid: Grid, tile: int = TILE) -> NDArray[np.uint8]:
    """(height x tile, width x tile, 3) RGB picture of the grid."""
    walls = grid.walls
    height, width = walls.shape
    drawn = MiniGrid(width, height)
    # MiniGrid counts columns first.
    for row, column in np.argwhere(walls):
        drawn.set(int(column), int(row), Wall())
    drawn.set(grid.goal[1], grid.goal[0], Goal())
    picture: NDArray[np.uint8] = drawn.render(tile, (grid.agent[1], grid.agent[0]), FACING_RIGHT)
    return picture
