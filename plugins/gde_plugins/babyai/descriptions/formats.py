"""The three formats of Choukrani et al. (2025, section 4.2), in our own words."""

import json
from typing import Literal

from gde_plugins.babyai.descriptions.description import Described, Description

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


def write(form: Format, moment: Description) -> str:
    """Write the text of a moment in one of the formats."""
    match form:
        case "structured":
            return _structured(moment)
        case "narrative":
            return _narrative(moment)
        case "json":
            return json.dumps(_facts(moment, "agent_pos"))


def introduce(form: Format, moment: Description) -> str:
    """Write the rules and the beginning of a world, as a question does.

    The order, labels and keys are those of the printed prompts (Choukrani et al. 2025,
    appendix B.5); the sentences are ours.
    """
    match form:
        case "structured":
            return f"{RULES}\n\n{_structured(moment, 'initial position')}"
        case "narrative":
            return f"{RULES}\n\n{_narrative(moment)}"
        case "json":
            config = _facts(moment, "agent_initial_pos")
            return json.dumps({"context": RULES, "config": config})


def _structured(moment: Description, position: str = "position") -> str:
    rows, columns = moment.rooms
    height, width = moment.size
    room = moment.room
    rooms = f"{rows}x{columns}" if rows * columns > 1 else "1"
    lines = [
        f"- Number of rooms: {rooms}",
        f"- Size of each room (including walls): {room}x{room}",
        f"- Effective room size (excluding walls): {room - 2}x{room - 2}",
        f"- Total grid size: {height}x{width}",
        f"- Agent {position}: {moment.agent}",
        f"- Agent facing direction: {moment.facing} (toward {moment.front})",
    ]
    if moment.carrying is not None:
        lines.append(f"- Agent carries: {moment.carrying}")
    scope = f" ({UNSEEN})" if moment.hidden else ""
    lines.append(f"- Objects in environment:{scope}")
    lines += [f"  - {_bullet(each)}" for each in moment.things]
    lines.append(f'- Mission: "{moment.mission}"')
    return "\n".join(lines)


def _bullet(each: Described) -> str:
    text = f"{each.kind}, color={each.color}, position={each.place}"
    if each.locked is not None:
        text += f", locked={each.locked}"
    if each.open is not None:
        text += f", open={each.open}"
    return text


def _narrative(moment: Description) -> str:
    rows, columns = moment.rooms
    height, width = moment.size
    room = moment.room
    rooms = f"{rows}x{columns} rooms, each" if rows * columns > 1 else "1 room"
    carried = "" if moment.carrying is None else f" It carries {moment.carrying}."
    scope = f" {UNSEEN}" if moment.hidden else ""
    things = ", ".join(_phrase(each) for each in moment.things)
    return (
        f"The world is made of {rooms} of size {room}x{room} with its walls and {room - 2}x{room - 2} without them; "
        f"the whole grid is {height}x{width}. The agent is at {moment.agent} and faces {moment.facing}, the position "
        f"{moment.front}.{carried}{scope} There is {things or 'nothing'}. "
        f'The mission of the agent is "{moment.mission}".'
    )


def _phrase(each: Described) -> str:
    words = [each.color, each.kind]
    if each.locked is not None:
        words.insert(0, "locked" if each.locked else "unlocked")
    if each.open is not None:
        words.insert(0, "open" if each.open else "closed")
    article = "an" if words[0][0] in "aeiou" else "a"
    return f"{article} {' '.join(words)} at position {each.place}"


def _facts(moment: Description, position: str) -> dict[str, object]:
    """The keys of the JSON format, with the name of that of the agent's position."""
    facts: dict[str, object] = {
        "num_rooms": list(moment.rooms),
        "room_size_incl_walls": [moment.room, moment.room],
        "room_size_excl_walls": [moment.room - 2, moment.room - 2],
        "grid_size": list(moment.size),
        position: list(moment.agent),
        "agent_front_pos": list(moment.front),
        "agent_direction": {"index": moment.direction, "name": moment.facing},
    }
    if moment.carrying is not None:
        facts["carrying"] = moment.carrying
    if moment.hidden:
        facts["field_of_view_only"] = True
    facts["objects"] = [_object(each) for each in moment.things]
    facts["mission"] = moment.mission
    return facts


def _object(each: Described) -> dict[str, object]:
    written: dict[str, object] = {
        "type": each.kind,
        "color": each.color,
        "position": list(each.place),
    }
    if each.locked is not None:
        written["locked"] = each.locked
    if each.open is not None:
        written["open"] = each.open
    return written
