"""Cells that a text writes as numbers, e.g. a model's reasoning."""

import re
from collections.abc import Mapping

from gde.data.cell_map import Position

NUMBER = re.compile(r"\d+")


def written_cells(pattern: str, text: str) -> Mapping[str, tuple[Position, ...]]:
    """The cells in the first match, by the names of the pattern's groups.

    A group has none if its numbers do not come in pairs of row and column.
    """
    match = re.search(pattern, text)
    if match is None:
        return {}
    cells = {}
    for name, part in match.groupdict(default="").items():
        numbers = [int(number) for number in NUMBER.findall(part)]
        is_paired = len(numbers) % 2 == 0
        pairs = zip(numbers[::2], numbers[1::2], strict=False)
        cells[name] = tuple(pairs) if is_paired else ()
    return cells
