"""A grid as MiniGrid (Chevalier-Boisvert et al. 2023) draws it."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
from minigrid.core.grid import Grid as MiniGrid
from minigrid.core.world_object import Ball, Door, Goal, Key, Wall, WorldObj
from numpy.typing import NDArray

from gde.data.cell_map import Thing
from gde_plugins.grid.grid import Grid

TILE = 32
"""Pixels a cell."""
FACING_RIGHT = 0
"""MiniGrid's agent looks somewhere; ours does not, so it is always drawn alike."""
THINGS: Mapping[str, Callable[[], WorldObj]] = {
    "key": partial(Key, "yellow"),
    "door": partial(Door, "yellow", is_locked=True),
    "coin": partial(Ball, "yellow"),
    "flag": partial(Ball, "purple"),
}
"""By what MiniGrid has, which knows neither coins nor flags."""


def draw(
    grid: Grid, tile: int = TILE, things: Iterable[Thing] = ()
) -> NDArray[np.uint8]:
    """(height x tile, width x tile, 3) RGB picture of the grid, with those of the
    things that `THINGS` has.
    """
    walls = grid.walls
    height, width = walls.shape
    drawn = MiniGrid(width, height)
    # MiniGrid counts columns first.
    for row, column in np.argwhere(walls):
        drawn.set(int(column), int(row), Wall())
    drawn.set(grid.goal[1], grid.goal[0], Goal())
    for thing in things:
        if thing.name in THINGS:
            drawn.set(thing.place[1], thing.place[0], THINGS[thing.name]())
    picture: NDArray[np.uint8] = drawn.render(
        tile, (grid.agent[1], grid.agent[0]), FACING_RIGHT
    )
    return picture
