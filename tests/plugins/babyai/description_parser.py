"""From each of the three formats back to what it tells: the texts hold what they
should.
"""

import json
import re
from collections.abc import Iterator

from gde_plugins.babyai.descriptions.description import Described, Description, Place
from gde_plugins.babyai.descriptions.formats import UNSEEN, Format
from gde_plugins.babyai.worlds.scene import COLORS, DIRECTIONS, KINDS

PAIR = r"\((\d+), (\d+)\)"
SIZE = r"(\d+)x(\d+)"
BULLET = re.compile(
    rf"  - (\w+), color=(\w+), position={PAIR}(?:, locked=(\w+))?(?:, open=(\w+))?"
)
PHRASE = re.compile(
    rf"an? (?:(open|closed) )?(?:(locked|unlocked) )?({'|'.join(COLORS)}) ({'|'.join(KINDS)}) at position {PAIR}"
)
STRUCTURED = re.compile(
    rf"- Number of rooms: (?:{SIZE}|1)\n- Size of each room \(including walls\): (\d+)x.*\n.*\n"
    rf"- Total grid size: {SIZE}\n- Agent position: {PAIR}\n- Agent facing direction: (\w+) .*\n"
    r"(?:- Agent carries: (.*)\n)?- Objects in environment:(?: .*)?\n(?:  - .*\n)*- Mission: \"(.*)\""
)
NARRATIVE = re.compile(
    rf"The world is made of (?:{SIZE} rooms, each|1 room) of size (\d+)x\d+ .*? the whole grid is {SIZE}\. "
    rf"The agent is at {PAIR} and faces (\w+), the position \(\d+, \d+\)\.(?: It carries ([^.]*)\.)?.*"
    r' The mission of the agent is "(.*)"\.'
)


def read(form: Format, text: str) -> Description:
    """What a text tells.

    Raises:
        ValueError: it is not in the format.
    """
    if form == "json":
        return _from_json(text)
    pattern, things = (
        (STRUCTURED, _bullets(text))
        if form == "structured"
        else (NARRATIVE, _phrases(text))
    )
    found = pattern.search(text)
    if found is None:
        raise ValueError(f"wanted a world in {form} format, got {text[:80]!r}")
    rows, columns, room, height, width, x, y, facing, carrying, mission = found.groups()
    return Description(
        rooms=(int(rows or 1), int(columns or 1)),
        room=int(room),
        size=(int(height), int(width)),
        agent=(int(x), int(y)),
        direction=DIRECTIONS.index(facing),
        things=tuple(things),
        mission=mission,
        carrying=carrying,
        hidden=UNSEEN in text,
    )


def walls(told: Description) -> frozenset[Place]:
    """The cells that are walls, where rooms are divided by whole walls: the lines
    between rooms but for doors.
    """
    height, width = told.size
    doors = {each.place for each in told.things if each.kind == "door"}
    step = told.room - 1
    lines = {
        (x, y)
        for y in range(height)
        for x in range(width)
        if x % step == 0 or y % step == 0
    }
    return frozenset(lines - doors)


def _bullets(text: str) -> Iterator[Described]:
    for kind, color, x, y, locked, opened in BULLET.findall(text):
        yield Described(
            kind=kind,
            color=color,
            place=(int(x), int(y)),
            locked=_truth(locked),
            open=_truth(opened),
        )


def _truth(word: str) -> bool | None:
    return word == "True" if word else None


def _phrases(text: str) -> Iterator[Described]:
    for opened, locked, color, kind, x, y in PHRASE.findall(text):
        yield Described(
            kind=kind,
            color=color,
            place=(int(x), int(y)),
            locked=locked == "locked" if locked else None,
            open=opened == "open" if opened else None,
        )


def _from_json(text: str) -> Description:
    try:
        told = json.loads(text)
        return Description(
            rooms=_pair(told["num_rooms"]),
            room=told["room_size_incl_walls"][0],
            size=_pair(told["grid_size"]),
            agent=_pair(told["agent_pos"]),
            direction=told["agent_direction"]["index"],
            things=tuple(_thing(each) for each in told["objects"]),
            mission=told["mission"],
            carrying=told.get("carrying"),
            hidden="field_of_view_only" in told,
        )
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"wanted a world in json format, got {text[:80]!r}") from error


def _thing(told: dict[str, object]) -> Described:
    state = {name: bool(told[name]) for name in ("locked", "open") if name in told}
    return Described(
        kind=str(told["type"]),
        color=str(told["color"]),
        place=_pair(told["position"]),
        **state,
    )


def _pair(told: object) -> Place:
    match told:
        case [int(first), int(second)]:
            return first, second
    raise ValueError(f"wanted two numbers, got {told!r}")
