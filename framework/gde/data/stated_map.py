"""A map that an agent states in words, as its decision notes it.

An agent that is asked for the map puts the model's answer at the end of
`Decision.detail`, behind `MARK`, which says how many turns ago the map was so. The
wanted answer is a JSON object with the rows of the map, each a list with one word for
each cell:

    {"map": [["wall", "wall", "wall"], ["wall", "agent", "goal"], ...]}
"""

import json
import re
from collections.abc import Sequence
from typing import Annotated, Literal, NamedTuple

import numpy as np
from annotated_types import MinLen
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from gde.data.arrays import Ints

MARK = re.compile(r"stated map(?:, (\d+) turns before)?: ")
Flaw = Literal["empty", "form", "size", "words"]
"""Why an answer states no map: there is none; it is not of the wanted form; its map is
of another size than the true one; it has words that name no kind of cell.
"""
FLAWS: tuple[Flaw, ...] = ("empty", "form", "size", "words")


class Unstated(ValueError):
    """An answer that states no map; the message says what was wanted."""

    def __init__(self, flaw: Flaw, message: str) -> None:
        super().__init__(message)
        self.flaw = flaw


class _Answer(TypedDict):
    map: Annotated[list[list[str]], MinLen(1)]


_ANSWER = TypeAdapter(_Answer)


class Noted(NamedTuple):
    """An answer to the question for the map."""

    answer: str
    age: int = 0
    """The number of turns before it of which the map was asked."""


def noted(detail: str, answer: str, age: int = 0) -> str:
    """The detail of a decision with the answer to the question for the map."""
    before = f"{detail}; " if detail else ""
    when = f", {age} turns before" if age else ""
    return f"{before}stated map{when}: {answer}"


def answer_noted(detail: str) -> Noted | None:
    """The answer in the detail of a decision; None where nobody asked."""
    mark = MARK.search(detail)
    return Noted(detail[mark.end() :], int(mark[1] or 0)) if mark else None


def read_stated(answer: str, kinds: Sequence[str], shape: tuple[int, int]) -> Ints:
    """(height, width) index into `kinds` of each stated cell.

    Text around the JSON object is forgiven, e.g. code fences, and so is the case of
    words. Nothing else is.

    Raises:
        Unstated: the answer states no map of this shape.
    """
    if not answer.strip():
        raise Unstated("empty", "wanted a map, got an empty answer")
    rows = _rows(answer)

    height, width = shape
    if [len(row) for row in rows] != [width] * height:
        lengths = sorted({len(row) for row in rows})
        raise Unstated(
            "size",
            f"wanted {height} rows of {width} words, got {len(rows)} of {lengths}",
        )

    codes = np.zeros(shape, dtype=np.int64)
    for place in np.ndindex(shape):
        word = rows[place[0]][place[1]].strip().casefold()
        if word not in kinds:
            raise Unstated("words", f"wanted {', '.join(kinds)}, got {word[:40]!r}")
        codes[place] = kinds.index(word)
    return codes


def _rows(answer: str) -> list[list[str]]:
    """The rows of words of an answer.

    Raises:
        Unstated: it has no such JSON object.
    """
    start = answer.find("{")
    end = answer.rfind("}") + 1
    wanted = '{"map": [["wall", ...], ...]}'
    try:
        found = json.loads(answer[start:end])
        return _ANSWER.validate_python(found, strict=True)["map"]
    except (ValueError, RecursionError, ValidationError):
        raise Unstated(
            "form", f"wanted a JSON object {wanted}, got {answer[:40]!r}"
        ) from None
