"""The text of a grid: what it looks like, where its cells are, and that it says all
there is.
"""

import numpy as np
from drawn_text import locate
from hypothesis import given, settings
from hypothesis import strategies as st

from gde_plugins.grid.generation.mazes import generate
from gde_plugins.grid.rendering.layout import render_text

ROWS = ("#####", "#__##", "#_#_#", "#___#", "#####")


def test_small_grid_to_the_character() -> None:
    assert render_text(ROWS, agent=(1, 1), goal=(3, 3)) == (
        "  0 1 2 3 4 \n0 # # # # # \n1 # A _ # # \n2 # _ # _ # \n3 # _ _ G # \n4 # # # # # "
    )


def test_agent_covers_the_goal() -> None:
    text = render_text(ROWS, agent=(3, 3), goal=(3, 3))
    assert "G" not in text
    assert "\n3 # _ _ A # \n" in text


def test_columns_are_wider_from_size_eleven() -> None:
    grid = generate(11, 0.0, np.random.default_rng(0))
    lines = render_text(grid.rows, grid.agent, grid.goal).split("\n")
    assert lines[0] == "   0  1  2  3  4  5  6  7  8  9  10 "
    assert lines[1] == "0  #  #  #  #  #  #  #  #  #  #  #  "[:-1]
    assert lines[11].startswith("10 #  #  ")
    assert all(line.endswith("# ") and not line.endswith("  ") for line in lines[1:])


@settings(max_examples=40)
@given(st.sampled_from(range(5, 26, 2)), st.floats(0, 1), st.integers(0, 2**32))
def test_text_reads_back_as_the_grid(size: int, density: float, seed: int) -> None:
    grid = generate(size, density, np.random.default_rng(seed))
    text = render_text(grid.rows, grid.agent, grid.goal)
    symbols = {cell: text[slice(*place)] for cell, place in locate(text).items()}
    assert [cell for cell, symbol in symbols.items() if symbol == "A"] == [grid.agent]
    assert [cell for cell, symbol in symbols.items() if symbol == "G"] == [grid.goal]
    free = {cell: "_" if symbol in "AG" else symbol for cell, symbol in symbols.items()}
    assert (
        tuple(
            "".join(free[row, column] for column in range(size)) for row in range(size)
        )
        == grid.rows
    )
    assert len(symbols) == size**2


@settings(max_examples=40)
@given(st.sampled_from(range(5, 26, 2)), st.integers(0, 2**32))
def test_column_indices_stand_above_their_columns(size: int, seed: int) -> None:
    grid = generate(size, 0.5, np.random.default_rng(seed))
    text = render_text(grid.rows, grid.agent, grid.goal)
    lines, line_start = text.split("\n"), 0
    places = locate(text)
    for row, line in enumerate(lines[1:]):
        line_start += len(lines[row]) + 1
        assert line.split()[0] == str(row)
        for column in range(size):
            at = places[row, column][0] - line_start
            assert lines[0][at:].split()[0] == str(column)
