"""The grid as text: the one layout that agents read.

    (blank) 0 1 2 ...     column indices
    0       # # # ...     row index, then the row's cells

Cells and indices are padded to one column width. Every line ends in one space: without
it, the vocabulary of GPT-OSS merges a wall at the end of a row with the newline, and
that cell has no token of its own.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from gde.data.cell_map import Position

AGENT_SYMBOL = "A"
GOAL_SYMBOL = "G"


def render_text(rows: Sequence[str], agent: Position, goal: Position) -> str:
    """Return the text of a grid, without a newline at the end; the agent covers the
    goal.
    """
    at_agent, at_goal = offsets(rows, [agent, goal])
    text = put(empty_text(rows), at_goal, GOAL_SYMBOL)
    return put(text, at_agent, AGENT_SYMBOL)


def empty_text(rows: Sequence[str]) -> str:
    """Return the text of the rows alone, without agent and goal."""
    width = _width(rows)
    gap = " " * (width - 1)
    lines = [_header(len(rows[0]), width)]
    for index, row in enumerate(rows):
        label = str(index).ljust(width)
        cells = gap.join(row)
        lines.append(f"{label}{cells.rstrip()} ")
    return "\n".join(lines)


def offsets(rows: Sequence[str], positions: Iterable[Position]) -> list[int]:
    """Return the index in the text of the symbol of each cell."""
    width = _width(rows)
    columns = len(rows[0])
    header = _header(columns, width)

    # The first cell follows the header, its newline and a row index. A row of text is
    # that index and all cells but the last, then a symbol, a space and a newline.
    origin = len(header) + 1 + width
    stride = width * columns + 3
    return [origin + row * stride + column * width for row, column in positions]


def put(text: str, index: int, symbol: str) -> str:
    """Return the text with one character replaced."""
    return text[:index] + symbol + text[index + 1 :]


def _width(rows: Sequence[str]) -> int:
    """Return the columns of text of a cell: room for the greatest index and a space."""
    greatest = max(len(rows), len(rows[0]))
    return len(str(greatest)) + 1


@lru_cache
def _header(columns: int, width: int) -> str:
    indices = [str(column).ljust(width) for column in range(columns)]
    line = "".join(indices)
    return " " * width + line.rstrip() + " "
