"""The content of a text about a moment, independent of its format."""

from collections.abc import Collection
from dataclasses import dataclass

from gde_plugins.babyai.worlds.scene import DIRECTIONS, STEPS, Door
from gde_plugins.babyai.worlds.simulation import Simulation

Place = tuple[int, int]
"""(x, y), counted from the top left corner."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """One thing in the grid."""

    kind: str
    color: str
    place: Place
    locked: bool | None = None
    """Of a door."""
    open: bool | None = None
    """Of a door, if the text gives it."""


@dataclass(frozen=True, kw_only=True)
class Description:
    """A moment of a world."""

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
    """The carried object, or "nothing"; None if the text does not give it."""
    hidden: bool = False
    """Whether only the agent's field of view is described."""

    @property
    def front(self) -> Place:
        """The cell that the agent faces."""
        x, y = self.agent
        columns, rows = STEPS[self.direction]
        return x + columns, y + rows

    @property
    def facing(self) -> str:
        return DIRECTIONS[self.direction]


def describe(
    now: Simulation, details: bool, seen: Collection[int] | None = None
) -> Description:
    """Describe a moment.

    Args:
        now: the moment.
        details: whether to say if doors are open and what is carried.
        seen: the cells whose things are described; None for all.
    """
    scene = now.scene
    things = []
    for cell in sorted(now.where):
        if cell >= 0 and (seen is None or cell in seen):
            things.append(_described(now, cell, details))
    carrying = None
    if details:
        carrying = str(scene.things[now.carrying]) if now.carrying >= 0 else "nothing"
    return Description(
        rooms=scene.rooms,
        room=scene.room,
        size=(scene.height, scene.width),
        agent=scene.place(now.position),
        direction=now.direction,
        things=tuple(things),
        mission=scene.text,
        carrying=carrying,
        hidden=seen is not None,
    )


def _described(now: Simulation, cell: int, details: bool) -> Described:
    number = now.cells[cell]
    thing = now.scene.things[number]
    is_door = now.doors[number] >= 0
    return Described(
        kind=thing.kind,
        color=thing.color,
        place=now.scene.place(cell),
        locked=now.doors[number] == Door.LOCKED if is_door else None,
        open=now.is_open(number) if is_door and details else None,
    )
