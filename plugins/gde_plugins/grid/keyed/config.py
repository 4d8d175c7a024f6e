"""Settings of the key worlds."""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Interval

from gde.data.ranges import Count

Artefact = Literal["key", "none", "coin", "flag"]
SHORTEST_HORIZON = {2: 7, 3: 10}
"""By rooms a side: the least horizon that one world in ten can be solved within. The
shortest way of all is 3, but with so few turns hardly any draw would do.
"""


@dataclass(frozen=True, kw_only=True)
class KeyWorldConfig:
    """Settings of all key worlds."""

    horizon: Count = 30
    """Turns allowed (30 in Arghal et al. 2026, section 4.3); worlds that need more are
    drawn again.
    """


@dataclass(frozen=True, kw_only=True)
class CounterfactualConfig(KeyWorldConfig):
    """Worlds with a useless object, and their counterfactuals with another object or
    without.
    """

    artefact: Artefact = "key"
    """The object in the key's place: the key, nothing, or a coin or flag that is just
    as useless. The same seed gives the same world otherwise; "none" is the
    counterfactual that the others are compared with.
    """


@dataclass(frozen=True, kw_only=True)
class KeyDoorConfig(KeyWorldConfig):
    """Rooms with a locked door between agent and goal, and its key."""

    rooms: Literal[2, 3] = 2
    """Rooms a side, each of 3 x 3 cells: 2 gives a grid of 9 x 9 cells, 3 one of 13 x
    13.
    """

    def __post_init__(self) -> None:
        least = SHORTEST_HORIZON[self.rooms]
        if self.horizon < least:
            raise ValueError(
                f"a horizon of at least {least} with rooms={self.rooms}, since fewer than one world in ten"
                f" can be solved sooner, got {self.horizon}"
            )


@dataclass(frozen=True, kw_only=True)
class KeyNoDoorConfig(KeyDoorConfig, CounterfactualConfig):
    """The worlds of key-door without the door, so that the key is useless."""


@dataclass(frozen=True, kw_only=True)
class TwoPathKeyConfig(CounterfactualConfig):
    """Two equally short paths from agent to goal, one of them with a useless key."""

    size: Annotated[int, Interval(ge=9, le=19)] = 11
    """Rows and columns, outer wall included; odd."""

    def __post_init__(self) -> None:
        if self.size % 2 == 0:
            near = f"{self.size - 1} or {self.size + 1}"
            raise ValueError(
                f"an odd size, so that the two paths are mirror images, e.g. {near}, got {self.size}"
            )
        if self.horizon <= self.size:
            raise ValueError(
                f"a horizon of at least {self.size + 1} with size={self.size}, the shortest path around a block,"
                f" got {self.horizon}"
            )
