"""The scene of a key world."""

from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde_plugins.grid.grid import walls_of, with_wall
from gde_plugins.grid.keyed.config import Artefact


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A grid with an agent, a goal and an object, perhaps with a locked door.

    Raises:
        ValueError: a door without its key.
    """

    layout: str
    """"rooms", or which pair of ways: "horizontal", "vertical", "diamond"."""
    rows: tuple[str, ...]
    """Walls and free cells; the doorway is free."""
    agent: Position
    goal: Position
    place: Position
    """Cell of the object; in a counterfactual without an object, the same cell."""
    artefact: Artefact = "key"
    door: Position | None = None

    def __post_init__(self) -> None:
        if self.door is not None and self.artefact != "key":
            raise ValueError(
                f"a scene with a door needs a key, got artefact {self.artefact!r}"
            )

    @property
    def walls(self) -> NDArray[np.bool_]:
        """(height, width) True in walls; the doorway is free."""
        return walls_of(self.rows)

    @property
    def closed_rows(self) -> tuple[str, ...]:
        """The rows with the closed door as a wall."""
        return with_wall(self.rows, self.door) if self.door else self.rows

    @property
    def base(self) -> str:
        """Equal for scenes that differ only in object, place and door: they are no
        independent observations.
        """
        return _digest(*self.rows, self.agent, self.goal)

    @property
    def identity(self) -> str:
        """Equal for equal scenes."""
        return _digest(self.base, self.place, self.artefact, self.door)


def _digest(*parts: object) -> str:
    content = "\n".join(str(part) for part in parts)
    return sha256(content.encode()).hexdigest()[:16]
