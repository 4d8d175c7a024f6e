"""Pictures of grids: every cell shows what is in it."""

import numpy as np
import pytest

from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.rendering.pictures import draw


def colour(grid: Grid, cell: tuple[int, int], tile: int) -> tuple[int, ...]:
    """RGB in the middle of a cell."""
    row, column = (index * tile + tile // 2 for index in cell)
    return tuple(int(value) for value in draw(grid, tile)[row, column])


def test_shape() -> None:
    grid = generate(9, 0.5, np.random.default_rng(0))
    picture = draw(grid, tile=8)
    assert picture.shape == (72, 72, 3)
    assert picture.dtype == np.uint8


@pytest.mark.parametrize("tile", [8, 32])
def test_every_cell_shows_what_is_in_it(tile: int) -> None:
    grid = Grid(
        rows=("#####", "#_#_#", "#___#", "##__#", "#####"), agent=(1, 3), goal=(2, 1)
    )
    wanted = {"#": (100, 100, 100), "_": (0, 0, 0)}
    for row, symbols in enumerate(grid.rows):
        for column, symbol in enumerate(symbols):
            shown = colour(grid, (row, column), tile)
            assert shown == {grid.agent: (255, 0, 0), grid.goal: (0, 255, 0)}.get(
                (row, column), wanted[symbol]
            )
