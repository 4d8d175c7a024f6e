"""Reads the text of a grid, in another way than it is written."""

import re

from gde.data.cell_map import Position

WORD = re.compile(r"\S+")


def locate(text: str) -> dict[Position, tuple[int, int]]:
    """Return the half-open character range of the symbol of each cell, in reading
    order; line ends may be of any kind.

    The grid ends with the last line that begins with its row index. Text below it is
    left out.
    """
    places: dict[Position, tuple[int, int]] = {}
    header, *lines = text.split("\n")
    line_start = len(header) + 1
    for row, line in enumerate(lines):
        words = list(WORD.finditer(line))
        if not words or words[0].group() != str(row):
            break
        for column, symbol in enumerate(words[1:]):
            places[row, column] = (
                line_start + symbol.start(),
                line_start + symbol.end(),
            )
        line_start += len(line) + 1
    return places
