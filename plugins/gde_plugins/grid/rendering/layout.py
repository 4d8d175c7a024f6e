"""The grid as text: the one layout that agents read, and where in it a cell is.

    (blank) 0 1 2 ...     column indices
    0       # # # ...     row index, then the row's cells

Cells and indices are padded to one column width. Every line ends in one space: without it, the vocabulary of
GPT-OSS merges a wall at the end of a row with the newline, and that cell has no token of its own.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from gde.data.cell_map import Position

AGENT_SYMBOL, GOAL_SYMBOL = "A", "G"


def render_text(rows: Sequence[str], agent: Position, goal: Position) -> str:
    """The text of a grid; the agent covers the goal. No newline at the end."""
    at_agent, at_goal = offsets(rows, [agent, goal])
    return put(put(empty_text(rows), at_goal, GOAL_SYMBOL), at_agent, AGENT_SYMBOL)


def empty_text(rows: Sequence[str]) -> str:
    """The text of the rows alone, without agent and goal."""
    width = _width(rows)
    gap = " " * (width - 1)
    lines = [str(index).ljust(width) + gap.join(row).rstrip() + " " for index, row in enumerate(rows)]
    return "\n".join([_header(len(rows[0]), width), *lines])


def offsets(rows: Sequence[str], positions: Iterable[Position]) -> list[int]:
    """Index in the text of each cell's symbol."""
    width = _width(rows)
    origin = len(_header(len(rows[0]), width)) + 1 + width
    stride = width * len(rows[0]) + 3  # the row's index and all cells but the last, a symbol, a space, a newline
    return [origin + row * stride + column * width for row, column in positions]


def put(text: str, index: int, symbol: str) -> str:
    """The text with one character replaced."""
    return text[:index] + symbol + text[index + 1 :]


def locate(text: str) -> dict[Position, tuple[int, int]]:
    """Half-open character range of every cell's symbol, in reading order; line ends may be of any kind.

    The grid ends with the last line that begins with its row's index; what stands below it is left out.
    """
    places: dict[Position, tuple[int, int]] = {}
    line_start = text.index("\n") + 1
    for row, line in enumerate(text[line_start:].split("\n")):
        if line.split()[:1] != [str(row)]:
            break
        symbols = list(re.finditer(r"\S+", line))[1:]  # the first is the row's index
        for column, symbol in enumerate(symbols):
            places[row, column] = (line_start + symbol.start(), line_start + symbol.end())
        line_start += len(line) + 1
    return places


def _width(rows: Sequence[str]) -> int:
    return len(str(max(len(rows), len(rows[0])))) + 1


@lru_cache
def _header(columns: int, width: int) -> str:
    return " " * width + "".join(str(column).ljust(width) for column in range(columns)).rstrip() + " "
