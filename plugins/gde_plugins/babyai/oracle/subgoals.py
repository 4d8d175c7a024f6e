"""The five subgoals: what an expert keeps on its stack, and what a decomposition is written in."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from gde_plugins.babyai.worlds.mission import Clause, GoTo, Mission, Open, Pickup, clauses
from gde_plugins.babyai.worlds.scene import Scene

Name = Literal["GoNextTo", "Open", "Close", "Drop", "Pickup"]
Purpose = Literal["", "open", "put"]
NAMES: dict[str, Name] = {f"{name}Subgoal": name for name in ("GoNextTo", "Open", "Close", "Drop", "Pickup")}
WRITTEN = re.compile(r"(\w+)(?:\s*[,:]?\s*\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\))?")


@dataclass(frozen=True)
class Subgoal:
    """Something to be done."""

    name: Name
    things: tuple[int, ...] = ()
    """Of GoNextTo: any of these things; none where a cell is meant."""
    cell: int = -1
    """Of GoNextTo: the cell to face. Of the others: the cell to act on, once it is known."""
    purpose: Purpose = ""
    """Of GoNextTo: "put" to face a free cell beside the thing, "open" to open the door when there. Of Open: "open"
    where a door that stands open is to be closed and opened again, because the opening counts."""
    begun: bool = False
    """Whether its action was suggested before."""

    def __str__(self) -> str:
        return f"{self.name}Subgoal"

    def at(self, cell: int) -> "Subgoal":
        """The same, tied to a cell, and begun."""
        return replace(self, cell=cell, begun=True)


def of_mission(mission: Mission, done: list[bool]) -> list[Subgoal]:
    """What is left of a mission as a stack, the first to be done last: a translation clause by clause."""
    left = [clause for clause, fulfilled in zip(clauses(mission), done, strict=True) if not fulfilled]
    return [subgoal for clause in reversed(left) for subgoal in _of_clause(clause)]


def _of_clause(clause: Clause) -> tuple[Subgoal, ...]:
    match clause:
        case GoTo(thing):
            return (Subgoal("GoNextTo", thing.things),)
        case Open(thing):
            return Subgoal("Open", purpose="open"), Subgoal("GoNextTo", thing.things, purpose="open")
        case Pickup(thing):  # it is put down again, lest the hands be full for what comes next
            return Subgoal("Drop"), Subgoal("Pickup"), Subgoal("GoNextTo", thing.things)
    return (
        Subgoal("Drop"),
        Subgoal("GoNextTo", clause.fixed.things, purpose="put"),
        Subgoal("Pickup"),
        Subgoal("GoNextTo", clause.thing.things),
    )


def parse(line: str, scene: Scene) -> Subgoal:
    """One written subgoal, e.g. "(GoNextToSubgoal, (3, 4))" or "PickupSubgoal".

    Raises:
        ValueError: it is none, or the place lies outside the grid.
    """
    text = line.strip()
    if text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    found = WRITTEN.fullmatch(text) or re.fullmatch(
        r"(GoNextToSubgoal)\(\s*\(?\s*(-?\d+)\s*,\s*(-?\d+)\s*\)?\s*\)", text
    )
    if found is None or found[1] not in NAMES:
        raise ValueError(f"wanted one of {', '.join(NAMES)}, got {line.strip()[:60]!r}")
    name, placed = NAMES[found[1]], found[2] is not None
    if placed != (name == "GoNextTo"):
        raise ValueError(
            f"{found[1]}: wanted {'a place (x, y)' if not placed else 'no place'}, got {line.strip()[:60]!r}"
        )
    if not placed:
        return Subgoal(name)
    x, y = int(found[2]), int(found[3])
    if not (0 <= x < scene.width and 0 <= y < scene.height):
        raise ValueError(f"{found[1]}: wanted a place in a grid of {scene.width}x{scene.height}, got ({x}, {y})")
    return Subgoal("GoNextTo", cell=scene.cell(x, y))


def write(subgoal: Subgoal, scene: Scene) -> str:
    """The subgoal as `parse` reads it."""
    return f"({subgoal}, {scene.place(subgoal.cell)})" if subgoal.name == "GoNextTo" else f"({subgoal})"
