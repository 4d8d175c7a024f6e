"""The five subgoals on the expert's stack and in decompositions."""

import re
from dataclasses import dataclass, replace
from typing import Literal, get_args

from gde_plugins.babyai.worlds.mission import (
    GoTo,
    Mission,
    Open,
    Pickup,
    PutNext,
    clauses,
)
from gde_plugins.babyai.worlds.scene import Scene

Name = Literal["GoNextTo", "Open", "Close", "Drop", "Pickup"]
Purpose = Literal["", "open", "put"]
NAMES: dict[str, Name] = {f"{name}Subgoal": name for name in get_args(Name)}
"""The subgoals by their names in answers."""
WRITTEN = re.compile(r"(\w+)(?:\s*[,:]?\s*\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\))?")
CALLED = re.compile(r"(GoNextToSubgoal)\(\s*\(?\s*(-?\d+)\s*,\s*(-?\d+)\s*\)?\s*\)")
"""Written as a call of a function, e.g. GoNextToSubgoal((3, 4))."""
QUOTED = 60
"""Maximum number of characters of a quoted line in an error message."""


@dataclass(frozen=True)
class Subgoal:
    """One entry of the expert's stack."""

    name: Name
    things: tuple[int, ...] = ()
    """GoNextTo: go to any of these things; empty if `cell` is given."""
    cell: int = -1
    """GoNextTo: the cell to face. Others: the cell to act on, once it is known."""
    purpose: Purpose = ""
    """GoNextTo: "put" to face a free cell beside the thing, "open" to open the door on
    arrival. Open: "open" if only opening counts, so that a door that stands open is
    closed first.
    """
    begun: bool = False
    """Whether its action was suggested before."""

    def __str__(self) -> str:
        return f"{self.name}Subgoal"

    def at(self, cell: int) -> "Subgoal":
        """Return the subgoal as begun at a cell."""
        return replace(self, cell=cell, begun=True)


def of_mission(mission: Mission, done: list[bool]) -> list[Subgoal]:
    """Translate the unfulfilled part of a mission, clause by clause, into a stack.

    The first subgoal is the last entry.
    """
    stack: list[Subgoal] = []
    for clause, is_done in reversed([*zip(clauses(mission), done, strict=True)]):
        if is_done:
            continue
        go = Subgoal("GoNextTo", clause.thing.things)
        match clause:
            case GoTo():
                stack.append(go)
            case Open():
                opening = Subgoal("Open", purpose="open")
                stack += [opening, replace(go, purpose="open")]
            case Pickup():
                # The thing is put down again so that the hands are free for the next
                # clause.
                stack += [Subgoal("Drop"), Subgoal("Pickup"), go]
            case PutNext(fixed=fixed):
                to_fixed = Subgoal("GoNextTo", fixed.things, purpose="put")
                stack += [Subgoal("Drop"), to_fixed, Subgoal("Pickup"), go]
    return stack


def parse(line: str, scene: Scene) -> Subgoal:
    """Parse one written subgoal, e.g. "(GoNextToSubgoal, (3, 4))" or "PickupSubgoal".

    Raises:
        ValueError: the line is no subgoal, or its place lies outside the grid.
    """
    text = line.strip()
    quoted = text[:QUOTED]
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    found = WRITTEN.fullmatch(text) or CALLED.fullmatch(text)
    if found is None or found[1] not in NAMES:
        raise ValueError(f"wanted one of {', '.join(NAMES)}, got {quoted!r}")

    name = NAMES[found[1]]
    has_place = found[2] is not None
    if name != "GoNextTo":
        if has_place:
            raise ValueError(f"{found[1]}: wanted no place, got {quoted!r}")
        return Subgoal(name)
    if not has_place:
        raise ValueError(f"{found[1]}: wanted a place (x, y), got {quoted!r}")

    x = int(found[2])
    y = int(found[3])
    if not (0 <= x < scene.width and 0 <= y < scene.height):
        raise ValueError(
            f"{found[1]}: wanted a place in a grid of {scene.width}x{scene.height}, got ({x}, {y})"
        )
    return Subgoal("GoNextTo", cell=scene.cell(x, y))


def write(subgoal: Subgoal, scene: Scene) -> str:
    """Write a subgoal as `parse` reads it."""
    if subgoal.name == "GoNextTo":
        return f"({subgoal}, {scene.place(subgoal.cell)})"
    return f"({subgoal})"
