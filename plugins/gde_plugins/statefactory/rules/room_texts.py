"""The rooms of BabyAI as its three formats tell them (Choukrani et al. 2025, section 4.2).

Whether doors are open and what is carried may be told or not.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

Place = tuple[int, int]
"""(x, y), counted from the top left corner."""

PAIR = r"\((\d+), (\d+)\)"
SIZE = r"(\d+)x(\d+)"
BULLET = re.compile(rf"  - (\w+), color=(\w+), position={PAIR}(?:, locked=(\w+))?(?:, open=(\w+))?")
PHRASE = re.compile(rf"\ban? (?:(open|closed) )?(?:(locked|unlocked) )?(\w+) (key|ball|box|door) at position {PAIR}")
STRUCTURED = (
    re.compile(rf"Size of each room \(including walls\): {SIZE}"),
    re.compile(rf"Total grid size: {SIZE}"),
    re.compile(rf"Agent position: {PAIR}"),
    re.compile(rf"Agent facing direction: \w+ \(toward {PAIR}\)"),
    re.compile(r"Agent carries: (.*)"),
)
NARRATIVE = (
    re.compile(rf"of size {SIZE} with"),
    re.compile(rf"the whole grid is {SIZE}"),
    re.compile(rf"The agent is at {PAIR}"),
    re.compile(rf"faces \w+, the position {PAIR}"),
    re.compile(r"It carries ([^.]*)\."),
)


@dataclass(frozen=True)
class Thing:
    """A door, key, ball or box."""

    kind: str
    color: str
    place: Place
    locked: bool = False
    open: bool | None = None
    """Of a door; None where it is not told."""

    def __str__(self) -> str:
        return f"{self.color} {self.kind}"


@dataclass(frozen=True)
class Moment:
    """What one text tells."""

    room: int
    """Cells along a side of a room, walls included."""
    size: tuple[int, int]
    """Height and width of the grid."""
    agent: Place
    front: Place
    carrying: str | None
    """"nothing" for empty hands; None where it is not told."""
    things: tuple[Thing, ...]
    """All, or those in view."""


def moment(text: str) -> Moment | None:
    """What a text tells; none where it is in none of the formats."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    return _from_words(text, STRUCTURED, _bullets(text)) or _from_words(text, NARRATIVE, _phrases(text))


def _from_words(text: str, patterns: tuple[re.Pattern[str], ...], things: Iterator[Thing]) -> Moment | None:
    *told, carries = (pattern.search(text) for pattern in patterns)
    if not all(told):
        return None
    room, size, agent, front = ((int(found[1]), int(found[2])) for found in told if found)
    return Moment(room[0], size, agent, front, carries[1] if carries else None, tuple(things))


def _bullets(text: str) -> Iterator[Thing]:
    for kind, color, x, y, locked, opened in BULLET.findall(text):
        yield Thing(kind, color, (int(x), int(y)), locked == "True", opened == "True" if opened else None)


def _phrases(text: str) -> Iterator[Thing]:
    for opened, locked, color, kind, x, y in PHRASE.findall(text):
        yield Thing(kind, color, (int(x), int(y)), locked == "locked", opened == "open" if opened else None)


def _from_json(text: str) -> Moment | None:
    try:
        told = json.loads(text)
        return Moment(
            int(told["room_size_incl_walls"][0]),
            _pair(told["grid_size"]),
            _pair(told["agent_pos"]),
            _pair(told["agent_front_pos"]),
            told.get("carrying"),
            tuple(_thing(one) for one in told["objects"]),
        )
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def _thing(told: dict[str, object]) -> Thing:
    opened = bool(told["open"]) if "open" in told else None
    return Thing(str(told["type"]), str(told["color"]), _pair(told["position"]), bool(told.get("locked")), opened)


def _pair(told: object) -> Place:
    match told:
        case [int(first), int(second)]:
            return first, second
    raise ValueError(f"wanted two numbers, got {told!r}")
