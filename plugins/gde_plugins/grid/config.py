"""What of the grid world can be chosen."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge, Interval


@dataclass(frozen=True, kw_only=True)
class GridConfig:
    """One kind of grid; every seed is another grid of that kind."""

    size: Annotated[int, Interval(ge=5, le=25)] = 7
    """Rows and columns, outer wall included; odd."""
    density: Annotated[float, Interval(ge=0, le=1)] = 0.5
    """Share of the inner walls of a perfect maze that stay: 1 is the maze, 0 an open room."""
    min_distance: Annotated[int, Ge(1)] | None = None
    """Least number of steps from agent to goal by the shortest way; none for no bound."""
    max_distance: Annotated[int, Ge(1)] | None = None
    """Greatest number of steps from agent to goal by the shortest way; none for no bound."""
    horizon_factor: Annotated[float, Ge(1)] = 1.5
    """Turns allowed, as a multiple of the shortest way, rounded up (paper 000, section 4)."""

    def __post_init__(self) -> None:
        if self.size % 2 == 0:
            near = f"{self.size - 1} or {self.size + 1}"
            raise ValueError(f"an odd size, since mazes are carved on every second cell, e.g. {near}, got {self.size}")
        if self.min_distance and self.max_distance and self.min_distance > self.max_distance:
            bounds = f"min_distance {self.min_distance} and max_distance {self.max_distance}"
            raise ValueError(f"min_distance no greater than max_distance, got {bounds}")

    @property
    def distances(self) -> range:
        """The optimal lengths that are wanted."""
        # No shortest way visits more cells than there are.
        return range(self.min_distance or 1, (self.max_distance or self.size**2) + 1)
