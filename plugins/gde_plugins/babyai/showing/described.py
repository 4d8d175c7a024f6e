"""What a text says of a moment, whatever the format."""

from collections.abc import Collection
from dataclasses import dataclass

from gde_plugins.babyai.worlds.scene import DIRECTIONS, STEPS, Door
from gde_plugins.babyai.worlds.simulation import Simulation

Place = tuple[int, int]
"""(x, y), counted from the top left corner."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """One thing as it is told of."""

    kind: str
    color: str
    place: Place
    locked: bool | None = None
    """Of a door."""
    open: bool | None = None
    """Of a door, where the text tells it."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """A moment in a world as a text tells it."""

    rooms: tuple[int, int]
    """Rows and columns of rooms."""
    room: int
    """Cells along a side of a room, walls included."""
    size: tuple[int, int]
    """Height and width of the grid."""
    agent: Place
    direction: int
    things: tuple[Described, ...]
    """Row by row."""
    mission: str
    carrying: str | None = None
    """What is carried, "nothing" for nothing; None where the text does not tell it."""
    hidden: bool = False
    """Whether only what the agent sees is told of."""

    @property
    def front(self) -> Place:
        """The cell that the agent faces."""
        (x, y), (columns, rows) = self.agent, STEPS[self.direction]
        return x + columns, y + rows

    @property
    def facing(self) -> str:
        return DIRECTIONS[self.direction]


def describe_things(now: Simulation, details: bool, seen: Collection[int] | None = None) -> tuple[Described, ...]:
    """The things that lie in the grid, row by row.

    Args:
        now: the moment.
        details: whether doors are told to be open or closed.
        seen: the cells that are told of; None for all.
    """
    places = sorted(cell for cell in now.where if cell >= 0 and (seen is None or cell in seen))
    return tuple(_described(now, cell, details) for cell in places)


def _described(now: Simulation, cell: int, details: bool) -> Described:
    scene, one = now.scene, now.cells[cell]
    thing, state = scene.things[one], now.doors[one]
    is_door = state >= 0
    return Described(
        kind=thing.kind,
        color=thing.color,
        place=scene.place(cell),
        locked=state == Door.LOCKED if is_door else None,
        open=state == Door.OPEN if is_door and details else None,
    )


def describe(now: Simulation, things: tuple[Described, ...], details: bool, hidden: bool = False) -> Description:
    """The moment, with things that were described before."""
    scene = now.scene
    held = str(scene.things[now.carrying]) if now.carrying >= 0 else "nothing"
    return Description(
        rooms=scene.rooms,
        room=scene.room,
        size=(scene.height, scene.width),
        agent=scene.place(now.position),
        direction=now.direction,
        things=things,
        mission=scene.text,
        carrying=held if details else None,
        hidden=hidden,
    )
