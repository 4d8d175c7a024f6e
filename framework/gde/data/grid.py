"""A text grid with its agent and goal: the one form in which the grid world, its probes and its pictures agree."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from gde.data.json import Json
from gde.data.observation import State, World

Position = tuple[int, int]
"""(row, column), counted from the top left corner, outer wall included."""
WALL_SYMBOL, FREE_SYMBOL = "#", "_"
USUAL_MOVES: Mapping[str, Position] = {"UP": (-1, 0), "DOWN": (1, 0), "LEFT": (0, -1), "RIGHT": (0, 1)}
"""Rows and columns that an action of the usual name moves the agent by."""


OBJECTS: Mapping[str, str] = {"key": "K", "door": "D", "coin": "C", "flag": "F", "distractor": "C"}
"""State facts that are the place of an object, with the object's letter."""


class Cell(IntEnum):
    """What a probe can find in a cell. PAD lies outside a grid that is smaller than the largest."""

    EMPTY = 0
    AGENT = 1
    GOAL = 2
    WALL = 3
    PAD = 4


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A rectangular grid; `rows` hold walls and free cells only.

    Raises:
        ValueError: ragged rows, an unknown symbol, or an agent or goal on a wall.
    """

    rows: tuple[str, ...]
    agent: Position
    goal: Position

    def __post_init__(self) -> None:
        if len({len(row) for row in self.rows}) != 1:
            raise ValueError("all rows of a grid must be equally long")
        if unknown := set("".join(self.rows)) - {WALL_SYMBOL, FREE_SYMBOL}:
            raise ValueError(f"grid rows hold {WALL_SYMBOL!r} and {FREE_SYMBOL!r} only, got {sorted(unknown)}")
        for name, (row, column) in (("agent", self.agent), ("goal", self.goal)):
            if self.rows[row][column] == WALL_SYMBOL:
                raise ValueError(f"the {name} at ({row}, {column}) stands on a wall")

    @classmethod
    def from_record(cls, world: World, state: State) -> "Grid":
        """The grid at one turn. What the state says (e.g. of a goal that moved) overrides the world."""
        facts: dict[str, Json] = {**world.facts, **state.facts}
        return cls(rows=_rows(facts), agent=position(facts, "agent"), goal=position(facts, "goal"))

    @property
    def walls(self) -> NDArray[np.bool_]:
        """(height, width) True where a wall is."""
        return np.array([[symbol == WALL_SYMBOL for symbol in row] for row in self.rows])

    def cells(self, size: int) -> NDArray[np.int64]:
        """(size, size) `Cell` codes, padded to the right and below.

        Raises:
            ValueError: the grid is larger than `size`.
        """
        height, width = len(self.rows), len(self.rows[0])
        if max(height, width) > size:
            raise ValueError(f"a {height}x{width} grid does not fit into {size}x{size}")
        cells = np.full((size, size), Cell.PAD, dtype=np.int64)
        cells[:height, :width] = np.where(self.walls, Cell.WALL, Cell.EMPTY)
        cells[self.goal] = Cell.GOAL
        cells[self.agent] = Cell.AGENT
        return cells


def moves(world: World) -> Mapping[str, Position]:
    """Rows and columns that each action moves the agent by: the fact `moves`, or `USUAL_MOVES` without it."""
    told = world.facts.get("moves")
    return {action: position(told, action) for action in told} if isinstance(told, Mapping) else USUAL_MOVES


def objects(state: State) -> Mapping[Position, str]:
    """The letter of every object that is there, by its place; facts of these names that are no places are none."""
    return {
        (place[0], place[1]): letter
        for name, letter in OBJECTS.items()
        if isinstance(place := state.facts.get(name), list | tuple) and [type(one) for one in place] == [int, int]
    }


def _rows(facts: Mapping[str, Json]) -> tuple[str, ...]:
    rows = facts.get("rows")
    if not isinstance(rows, list | tuple) or not all(isinstance(row, str) for row in rows):
        raise ValueError("a grid world records `rows`, a list of strings")
    return tuple(str(row) for row in rows)


def position(facts: Mapping[str, Json], name: str) -> Position:
    """A fact that is a cell.

    Raises:
        ValueError: there is no such fact, or it is none.
    """
    match facts.get(name):
        case [int(row), int(column)] | (int(row), int(column)):
            return row, column
        case other:
            raise ValueError(f"a grid records {name!r} as [row, column], got {other!r}")
