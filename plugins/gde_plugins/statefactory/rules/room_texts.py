"""The rooms of BabyAI as its three formats describe them (Choukrani et al. 2025,
section 4.2).

The texts may leave out whether doors are open and what the agent carries.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

Place = tuple[int, int]
"""(x, y), counted from the top left corner."""

PAIR = r"\((\d+), (\d+)\)"
SIZE = r"(\d+)x(\d+)"
BULLET = re.compile(
    rf"  - (\w+), color=(\w+), position={PAIR}(?:, locked=(\w+))?(?:, open=(\w+))?"
)
PHRASE = re.compile(
    rf"\ban? (?:(open|closed) )?(?:(locked|unlocked) )?(\w+) (key|ball|box|door) at position {PAIR}"
)
STRUCTURED = (
    re.compile(rf"Size of each room \(including walls\): {SIZE}"),
    re.compile(rf"Total grid size: {SIZE}"),
    re.compile(rf"Agent position: {PAIR}"),
    re.compile(rf"Agent facing direction: \w+ \(toward {PAIR}\)"),
    re.compile(r"Agent carries: (.*)"),
)
"""Patterns of room size, grid size, agent, cell ahead and carried thing; the last may
find nothing.
"""
NARRATIVE = (
    re.compile(rf"of size {SIZE} with"),
    re.compile(rf"the whole grid is {SIZE}"),
    re.compile(rf"The agent is at {PAIR}"),
    re.compile(rf"faces \w+, the position {PAIR}"),
    re.compile(r"It carries ([^.]*)\."),
)
"""The same in the narrative format."""


@dataclass(frozen=True)
class Thing:
    """A door, key, ball or box."""

    kind: str
    color: str
    place: Place
    locked: bool = False
    open: bool | None = None
    """Of a door; None where the text does not say."""

    def __str__(self) -> str:
        return f"{self.color} {self.kind}"

    def looks_like(self, other: "Thing") -> bool:
        """Whether both have the same color and kind."""
        return self.kind == other.kind and self.color == other.color


@dataclass(frozen=True)
class Moment:
    """The content of one text."""

    room: int
    """Cells along a side of a room, walls included."""
    size: tuple[int, int]
    """Height and width of the grid."""
    agent: Place
    front: Place
    carrying: str | None
    """"nothing" for empty hands; None where the text does not say."""
    things: tuple[Thing, ...]
    """All, or those in view."""


def moment(text: str) -> Moment | None:
    """Parse a text; None where it is in none of the three formats."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    return _from_words(text, STRUCTURED, _bullets(text)) or _from_words(
        text, NARRATIVE, _phrases(text)
    )


def _from_words(
    text: str, patterns: tuple[re.Pattern[str], ...], things: Iterator[Thing]
) -> Moment | None:
    *needed, carrying = patterns
    numbers: list[tuple[int, int]] = []
    for pattern in needed:
        found = pattern.search(text)
        if not found:
            return None
        numbers.append((int(found[1]), int(found[2])))
    (room, _), size, agent, front = numbers
    carried = carrying.search(text)
    return Moment(
        room, size, agent, front, carried[1] if carried else None, tuple(things)
    )


def _bullets(text: str) -> Iterator[Thing]:
    for kind, color, x, y, locked, opened in BULLET.findall(text):
        yield Thing(
            kind,
            color,
            (int(x), int(y)),
            locked == "True",
            opened == "True" if opened else None,
        )


def _phrases(text: str) -> Iterator[Thing]:
    for opened, locked, color, kind, x, y in PHRASE.findall(text):
        yield Thing(
            kind,
            color,
            (int(x), int(y)),
            locked == "locked",
            opened == "open" if opened else None,
        )


def _from_json(text: str) -> Moment | None:
    try:
        record = json.loads(text)
        return Moment(
            int(record["room_size_incl_walls"][0]),
            _pair(record["grid_size"]),
            _pair(record["agent_pos"]),
            _pair(record["agent_front_pos"]),
            record.get("carrying"),
            tuple(_thing(one) for one in record["objects"]),
        )
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def _thing(record: dict[str, object]) -> Thing:
    opened = bool(record["open"]) if "open" in record else None
    return Thing(
        kind=str(record["type"]),
        color=str(record["color"]),
        place=_pair(record["position"]),
        locked=bool(record.get("locked")),
        open=opened,
    )


def _pair(value: object) -> Place:
    match value:
        case [int(first), int(second)]:
            return first, second
    raise ValueError(f"wanted two numbers, got {value!r}")
