"""A text grid with its agent and goal, and its origin."""

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position, position
from gde.data.json import Json, Labels
from gde.data.observation import State, World

WALL_SYMBOL = "#"
FREE_SYMBOL = "_"


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
        lengths = {len(row) for row in self.rows}
        if len(lengths) != 1:
            raise ValueError("all rows of a grid must be equally long")
        unknown = set("".join(self.rows)) - {WALL_SYMBOL, FREE_SYMBOL}
        if unknown:
            raise ValueError(
                f"grid rows hold {WALL_SYMBOL!r} and {FREE_SYMBOL!r} only, got {sorted(unknown)}"
            )
        for name, place in {"agent": self.agent, "goal": self.goal}.items():
            row, column = place
            if self.rows[row][column] == WALL_SYMBOL:
                raise ValueError(f"the {name} at ({row}, {column}) stands on a wall")

    @classmethod
    def from_record(cls, world: World, state: State) -> "Grid":
        """Return the grid at one turn. Facts of the state, e.g. of a goal that moved,
        override those of the world.
        """
        facts: dict[str, Json] = {**world.facts, **state.facts}
        rows = facts.get("rows")
        if not isinstance(rows, list | tuple) or not all(
            isinstance(row, str) for row in rows
        ):
            raise ValueError("a grid world records `rows`, a list of strings")
        return cls(
            rows=tuple(str(row) for row in rows),
            agent=position(facts, "agent"),
            goal=position(facts, "goal"),
        )

    @property
    def walls(self) -> NDArray[np.bool_]:
        """(height, width) True where a wall is."""
        return np.array(
            [[symbol == WALL_SYMBOL for symbol in row] for row in self.rows]
        )


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
