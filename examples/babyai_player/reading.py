"""The text of a world as lines, with positions in the frame of the agent's first pose."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from gde.errors import GdeError
from gde_plugins.babyai.descriptions.description import Place
from gde_plugins.babyai.worlds.scene import DIRECTIONS, STEPS

TURNS = {"left": 3, "right": 1}
"""The change of the direction's number with each turn."""
PLACE = re.compile(r"\((\d+), (\d+)\)")
SIZE = re.compile(r"Total grid size: (\d+)x(\d+)")
POSITION = re.compile(r"- Agent (?:initial )?position: \((\d+), (\d+)\)")
FACING = re.compile(rf"- Agent facing direction: ({'|'.join(DIRECTIONS)})")
TOLD = r"Agent position|Agent initial|Agent facing|Effective room|Objects in"
"""Beginnings of lines that tell nothing beyond the pose and other lines."""
LINE = re.compile(rf"^ *- (?!{TOLD})(.+)$|^(The agent is to stand .+)$", re.MULTILINE)
"""The lines about the world, and that of the Plan questions with the target."""
WORD = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True)
class Pose:
    """Where the agent stands, and its direction as a number of `DIRECTIONS`."""

    x: int
    y: int
    direction: int

    @property
    def front(self) -> Place:
        """The cell that it faces."""
        columns, rows = STEPS[self.direction]
        return self.x + columns, self.y + rows

    def after(self, effect: str) -> Self:
        """The pose after one of `EFFECTS`."""
        if effect == "moves":
            x, y = self.front
            return replace(self, x=x, y=y)
        direction = (self.direction + TURNS.get(effect, 0)) % 4
        return replace(self, direction=direction)

    def sees(self, place: Place) -> Place:
        """A place in the frame of this pose: cells ahead, and cells to the right."""
        columns, rows = place[0] - self.x, place[1] - self.y
        ahead_x, ahead_y = STEPS[self.direction]
        right_x, right_y = STEPS[(self.direction + 1) % 4]
        return (
            columns * ahead_x + rows * ahead_y,
            columns * right_x + rows * right_y,
        )


EFFECTS = ("stays", "moves", *TURNS)
"""What an action can do to the pose."""


@dataclass(frozen=True)
class Line:
    """A line of the text: its words, and the place that it names, if any."""

    words: tuple[str, ...]
    place: Place | None = None


@dataclass(frozen=True)
class Moment:
    """A moment of a walk: the pose, and the action before it; "" at the beginning."""

    action: str
    pose: Pose


def read_pose(text: str) -> Pose:
    """Read the agent's pose from a structured description.

    Raises:
        GdeError: there is none.
    """
    position, facing = POSITION.search(text), FACING.search(text)
    if not (position and facing):
        raise GdeError(
            "the learned player reads structured descriptions: set env.format=structured"
        )
    x, y = map(int, position.groups())
    return Pose(x, y, DIRECTIONS.index(facing[1]))


def read_lines(text: str) -> list[Line]:
    """Read the lines of a structured description."""
    lines = []
    for found in LINE.finditer(text):
        line = found[1] or found[2]
        place = PLACE.search(line)
        words = WORD.findall(PLACE.sub("", line).lower())
        lines.append(Line(tuple(words), _place(place.groups()) if place else None))

    # Two opposite corners tell where the outer walls are.
    size = SIZE.search(text)
    if size:
        height, width = map(int, size.groups())
        lines.append(Line(("first", "corner"), (0, 0)))
        lines.append(Line(("last", "corner"), (width - 1, height - 1)))
    return lines


def _place(numbers: Iterable[str]) -> Place:
    x, y = map(int, numbers)
    return x, y


def effect_of(before: Pose, after: Pose) -> str:
    """Name what an action did to the pose."""
    for effect in EFFECTS:
        if before.after(effect) == after:
            return effect
    raise ValueError(f"no single action leads from {before} to {after}")


def vocabulary(texts: Iterable[Sequence[Line]]) -> list[str]:
    """All words of some texts, sorted."""
    return sorted({word for lines in texts for line in lines for word in line.words})
