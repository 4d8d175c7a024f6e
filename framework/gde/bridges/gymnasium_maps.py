"""The map of a world as arrays, for learners."""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gde.data.cell_map import CellMap
from gde.parts.environment import Environment, HasState

Planes = NDArray[np.float32]


class MappedEnvironment(Environment, HasState, Protocol):
    """An environment whose world and state tell a map (capability MAP)."""


@dataclass
class MapView:
    """The map as one plane a kind of cell: 1 where a cell is of the kind, 0 elsewhere.

    Worlds that are smaller than the first one leave their lower and right edge empty in
    all planes.
    """

    environment: MappedEnvironment
    space: spaces.Box = field(init=False)
    """(kinds, rows, columns)."""

    def __post_init__(self) -> None:
        self.environment.reset(0)
        shown = self._map()
        shape = (len(shown.kinds), shown.height, shown.width)
        self.space = spaces.Box(0.0, 1.0, shape, np.float32)

    def look(self) -> Planes:
        """The present moment.

        Raises:
            ValueError: the world is larger than the first one.
        """
        shown = self._map()
        n, height, width = self.space.shape
        if len(shown.kinds) != n or shown.height > height or shown.width > width:
            raise ValueError(
                f"wanted a map of at most {height} by {width} cells, got {shown.height} by {shown.width}"
            )
        planes = np.zeros(self.space.shape, dtype=np.float32)
        planes[:, : shown.height, : shown.width] = (
            np.arange(n)[:, None, None] == shown.codes
        )
        return planes

    def _map(self) -> CellMap:
        return CellMap.from_record(self.environment.world(), self.environment.state())


def with_mask(map_space: spaces.Box, n_actions: int) -> "spaces.Dict":
    """The map, and which actions are admissible."""
    return spaces.Dict({"map": map_space, "actions": spaces.MultiBinary(n_actions)})


def seen(
    observations: str, text: str, view: MapView | None, mask: NDArray[np.int8]
) -> Any:
    """The observation in one of the forms text, map and dict."""
    if view is None:
        return text
    planes = view.look()
    if observations == "map":
        return planes
    return {"map": planes, "actions": mask}
