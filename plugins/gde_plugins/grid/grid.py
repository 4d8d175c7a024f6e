"""A text grid with its agent and goal, and its origin."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np

from gde.data.arrays import Bools
from gde.data.cell_map import Position, position
from gde.data.json import Json, Labels
from gde.data.observation import State, World

WALL_SYMBOL = "#"
FREE_SYMBOL = "_"


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A rectangular grid; `rows` hold walls and free cells only.

    Raises:
        ValueError: ragged rows, an unknown symbol, an open border, or an agent or goal
            that is not on a free cell.
    """

    rows: tuple[str, ...]
    agent: Position
    goal: Position

    def __post_init__(self) -> None:
        lengths = {len(row) for row in self.rows}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(f"wanted rows of equal length, got {list(self.rows)}")
        unknown = set("".join(self.rows)) - {WALL_SYMBOL, FREE_SYMBOL}
        if unknown:
            raise ValueError(
                f"wanted rows of {WALL_SYMBOL} (wall) and {FREE_SYMBOL} (free) only, got {sorted(unknown)}"
            )

        walls = self.walls
        height, width = walls.shape
        border = walls.copy()
        border[1:-1, 1:-1] = True
        if not border.all():
            raise ValueError("wanted walls all around, got a free cell at the edge")
        for name, (row, column) in {"agent": self.agent, "goal": self.goal}.items():
            is_inside = 0 <= row < height and 0 <= column < width
            if not is_inside or walls[row, column]:
                raise ValueError(
                    f"wanted the {name} on a free cell, got {[row, column]}"
                )

    @classmethod
    def from_record(cls, world: World, state: State) -> "Grid":
        """Return the grid at one turn. Facts of the state, e.g. of a goal that moved,
        override those of the world.
        """
        facts: dict[str, Json] = {**world.facts, **state.facts}
        rows = facts.get("rows")
        if not isinstance(rows, list | tuple):
            raise ValueError("a grid world records `rows`, a list of strings")
        return cls(
            rows=tuple(str(row) for row in rows),
            agent=position(facts, "agent"),
            goal=position(facts, "goal"),
        )

    @property
    def walls(self) -> Bools:
        """(height, width) True where a wall is."""
        return walls_of(self.rows)


def walls_of(rows: Sequence[str]) -> Bools:
    """Return (height, width) True where a wall is."""
    walls: Bools = np.array([list(row) for row in rows]) == WALL_SYMBOL
    return walls


def rows_of(walls: Bools) -> tuple[str, ...]:
    """Return the rows of a (height, width) wall mask as text."""
    symbols = np.where(walls, WALL_SYMBOL, FREE_SYMBOL)
    return tuple("".join(row) for row in symbols.tolist())


def with_wall(rows: Sequence[str], cell: Position) -> tuple[str, ...]:
    """Return the rows with a wall in one more cell."""
    walls = walls_of(rows)
    walls[cell] = True
    return rows_of(walls)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A grid before it is transformed, generated or read from a file."""

    grid: Grid
    base: str
    """Equal for grids that are variations of one another."""
    labels: Labels
    """At least `size` and `transform`, which is "none" unless the file holds the grid
    already transformed.
    """
    record: str = ""
    """Id in the file; empty for a generated grid."""


def identity(grid: Grid, *words: str) -> str:
    """Return a digest of 16 characters, equal for equal grids in equal words."""
    content = "\n".join([*grid.rows, str(grid.agent), str(grid.goal), *words])
    return sha256(content.encode()).hexdigest()[:16]
