"""The three formats of Choukrani et al. (2025), section 4.2: structured, narrative and JSON, in words of our own.

What changes with every step is written by `write`; the lines of things change seldom and are handed in.
"""

import json
from collections.abc import Sequence
from typing import Literal

from gde_plugins.babyai.showing.described import Described, Description, Place

Format = Literal["structured", "narrative", "json"]

RULES = (
    "The world is a grid of square cells with one or more square rooms of one size, set out in rows and columns and "
    "divided by walls. Keys, balls and boxes of several colours may lie in the rooms. Some walls between rooms have a "
    "door; a locked door is opened with a key of its own colour. The agent knows six actions: left (turn left on the "
    "spot), right (turn right on the spot), forward (move one cell ahead), pickup (take what lies in the cell ahead), "
    "drop (put what is carried into the cell ahead, if that is free) and toggle (open or close the door ahead, or open "
    "the box ahead). Only forward changes the agent's position, and it has no effect if the cell ahead holds a wall, a "
    "thing or a door that is not open. Turning changes only which way the agent faces. One thing can be carried at a "
    "time. Positions are written (x, y): (0, 0) is the top left corner, which is a wall, x grows to the right and y "
    "grows downwards; north is up."
)
UNSEEN = "Only what lies in the agent's field of view is listed."


def thing_lines(form: Format, things: Sequence[Described]) -> str:
    """The part of a text that tells of things; it stays the same until one of them changes."""
    match form:
        case "structured":
            return "\n".join(f"  - {_bullet(each)}" for each in things)
        case "narrative":
            return ", ".join(_phrase(each) for each in things)
        case "json":
            return json.dumps([_object(each) for each in things])


def write(form: Format, told: Description, things: str) -> str:
    """The text of a moment.

    Args:
        form: the format.
        told: the moment.
        things: `thing_lines` of its things.
    """
    match form:
        case "structured":
            return _structured(told, things)
        case "narrative":
            return _narrative(told, things)
        case "json":
            return _json(told, things)


def _structured(told: Description, things: str) -> str:
    (rows, columns), (height, width) = told.rooms, told.size
    lines = [
        f"- Number of rooms: {rows}x{columns}" if rows * columns > 1 else "- Number of rooms: 1",
        f"- Size of each room (including walls): {told.room}x{told.room}",
        f"- Effective room size (excluding walls): {told.room - 2}x{told.room - 2}",
        f"- Total grid size: {height}x{width}",
        f"- Agent position: {told.agent}",
        f"- Agent facing direction: {told.facing} (toward {told.front})",
    ]
    lines += [] if told.carrying is None else [f"- Agent carries: {told.carrying}"]
    lines += [f"- Objects in environment:{f' ({UNSEEN})' if told.hidden else ''}"]
    lines += [things] if things else []
    return "\n".join([*lines, f'- Mission: "{told.mission}"'])


def _bullet(each: Described) -> str:
    more = "" if each.locked is None else f", locked={each.locked}"
    more += "" if each.open is None else f", open={each.open}"
    return f"{each.kind}, color={each.color}, position={each.place}{more}"


def _narrative(told: Description, things: str) -> str:
    (rows, columns), (height, width) = told.rooms, told.size
    several = rows * columns > 1
    rooms = f"{rows}x{columns} rooms, each" if several else "1 room"
    carried = "" if told.carrying is None else f" It carries {told.carrying}."
    scope = f" {UNSEEN}" if told.hidden else ""
    return (
        f"The world is made of {rooms} of size {told.room}x{told.room} with its walls and {told.room - 2}x"
        f"{told.room - 2} without them; the whole grid is {height}x{width}. The agent is at {told.agent} and faces "
        f"{told.facing}, the position {told.front}.{carried}{scope} There is {things or 'nothing'}. "
        f'The mission of the agent is "{told.mission}".'
    )


def _phrase(each: Described) -> str:
    words = [each.color, each.kind]
    if each.locked is not None:
        words.insert(0, "locked" if each.locked else "unlocked")
    if each.open is not None:
        words.insert(0, "open" if each.open else "closed")
    article = "an" if words[0][0] in "aeiou" else "a"
    return f"{article} {' '.join(words)} at position {each.place}"


def _json(told: Description, things: str) -> str:
    facts = {
        "num_rooms": list(told.rooms),
        "room_size_incl_walls": [told.room, told.room],
        "room_size_excl_walls": [told.room - 2, told.room - 2],
        "grid_size": list(told.size),
        "agent_pos": _list(told.agent),
        "agent_front_pos": _list(told.front),
        "agent_direction": {"index": told.direction, "name": told.facing},
        **({} if told.carrying is None else {"carrying": told.carrying}),
        **({"field_of_view_only": True} if told.hidden else {}),
        "mission": told.mission,
    }
    return f'{json.dumps(facts)[:-1]}, "objects": {things}}}'


def _object(each: Described) -> dict[str, object]:
    state = {"locked": each.locked, "open": each.open}
    told = {name: value for name, value in state.items() if value is not None}
    return {"type": each.kind, "color": each.color, "position": _list(each.place), **told}


def _list(place: Place) -> list[int]:
    return [*place]
