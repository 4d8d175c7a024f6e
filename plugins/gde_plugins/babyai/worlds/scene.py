"""A BabyAI world at the beginning of an episode, without minigrid.

It is immutable. Cells are counted row by row from the top left: the cell (x, y) is
number y * width + x.

Cells are counted row by row from the top left: the cell (x, y) is number y * width + x.
"""

from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from typing import Literal

from gde_plugins.babyai.worlds.mission import Mission

Kind = Literal["door", "key", "ball", "box"]
KINDS: tuple[Kind, ...] = ("door", "key", "ball", "box")
COLORS = ("blue", "green", "grey", "purple", "red", "yellow")
DIRECTIONS = ("east", "south", "west", "north")
"""Directions by number, as in minigrid: turning right adds one."""
STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""(columns, rows) of one step in each direction."""
ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle")
FREE, WALL = -1, -2
"""Contents of a cell without a thing."""
NOTHING = -1
"""Stands for no thing."""


class Door(IntEnum):
    """The state of a door, numbered as in minigrid."""

    OPEN = 0
    CLOSED = 1
    LOCKED = 2


@dataclass(frozen=True)
class Thing:
    """A door, key, ball or box, identified by its index in `Scene.things`."""

    kind: Kind
    color: str
    contains: int = NOTHING
    """Of a box: the thing that appears when it is opened."""

    def __str__(self) -> str:
        return f"{self.color} {self.kind}"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The content of a world."""

    level: str
    seed: int
    width: int
    height: int
    room: int
    """Cells along a side of a room, walls included."""
    rooms: tuple[int, int]
    """Rows and columns of rooms."""
    cells: tuple[int, ...]
    """The thing in each cell, `FREE` or `WALL`."""
    things: tuple[Thing, ...]
    doors: tuple[int, ...]
    """`Door` for each thing that is one, `NOTHING` for the others."""
    known: tuple[int, ...]
    """Where the mission takes each thing to be at first; `NOTHING` for things that it
    does not look for.
    """
    agent: int
    direction: int
    carrying: int = NOTHING
    mission: Mission
    text: str
    """The mission in words."""
    max_steps: int

    @property
    def steps(self) -> tuple[int, int, int, int]:
        """The change of the cell's number with one step in each direction."""
        return (1, self.width, -1, -self.width)

    def cell(self, x: int, y: int) -> int:
        """Return the number of a cell."""
        return y * self.width + x

    def place(self, cell: int) -> tuple[int, int]:
        """Return (x, y) of a cell."""
        return cell % self.width, cell // self.width

    @property
    def identity(self) -> str:
        """Hash that is equal for equal worlds: grid, things, agent and mission.

        Neither level nor seed plays a part.
        """
        # The hashes of known worlds are stored, so neither the fields nor their order
        # may change.
        content = (
            self.width,
            self.height,
            self.cells,
            self.things,
            self.doors,
            self.agent,
            self.direction,
            self.carrying,
            self.mission,
            self.max_steps,
        )
        return sha256(repr(content).encode()).hexdigest()[:16]
