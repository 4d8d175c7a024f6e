"""Settings of the grid world."""

import json
import math
from dataclasses import dataclass, fields
from typing import Annotated, Literal

from annotated_types import Interval

from gde.data.json import NONE, Labels
from gde.data.ranges import Count, Index, Share
from gde.offers import FilePath, Readable, WeightsName


# Imported late: NumPy would double the time of `gde list`.
def _transform(text: str) -> object:
    from gde_plugins.grid.generation.transforms import Transform

    return Transform.named(text)


def _actions(text: str) -> object:
    from gde_plugins.grid.rendering.vocabulary import read_actions

    return read_actions(text)


def _symbols(text: str) -> object:
    from gde_plugins.grid.rendering.vocabulary import read_symbols

    return read_symbols(text)


def read_selection(text: str) -> Labels:
    """Read "size=7 transform=none" as {"size": 7, "transform": "none"}.

    Raises:
        ValueError: the expected format.
    """
    selection: dict[str, str | int | float | bool] = {}
    is_complete = True
    for pair in text.split():
        name, _, value = pair.partition("=")
        is_complete = is_complete and bool(name and value)
        selection[name] = _value(value)
    # A comma would separate two values of the setting.
    if not selection or not is_complete or "," in text:
        raise ValueError(
            "LABEL=VALUE, several separated by spaces, e.g. size=7 density=0.5"
        )
    return selection


def _value(text: str) -> str | int | float | bool:
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return value if isinstance(value, int | float) else text


RANDOM = ("size", "density", "min_distance", "max_distance")
"""Settings of random grids."""


@dataclass(frozen=True, kw_only=True)
class GridConfig:
    """One kind of grid; every seed is another grid of that kind."""

    size: Annotated[int, Interval(ge=5, le=101)] = 7
    """Rows and columns, outer wall included; odd."""
    density: Share = 0.5
    """Share of the inner walls kept from a perfect maze: 1 is the maze, 0 an open room."""
    min_distance: Count | None = None
    """Minimum length of the shortest path from agent to goal; none: no bound."""
    max_distance: Count | None = None
    """Maximum length of the shortest path from agent to goal; none: no bound."""
    horizon_factor: Annotated[float, Interval(ge=1, le=1000)] = 1.5
    """Allowed turns as a multiple of the shortest path, rounded up (Arghal et al. 2026,
    section 4).
    """
    horizon: Count | None = None
    """Most turns of an episode, e.g. 1 to ask for first turns alone; none: no other
    limit.
    """
    grids: FilePath | None = None
    """A file of grids to use instead of random ones: JSON with `id`, `rows`, `agent`,
    `goal`, mazes of # . S G, or lines of the tokens of `maze-dataset`.
    """
    where: Annotated[str, Readable(read_selection)] | None = None
    """Use only the grids with these labels, e.g. "size=7 transform=none"; none: all."""
    transform: Annotated[str, Readable(_transform)] = NONE
    """Transform of every grid: none, reflect, rotate90, rotate180, rotate270,
    transpose, swap (start and goal), or several in this order, e.g.
    reflect+rotate90.
    """
    actions: Annotated[str, Readable(_actions)] = NONE
    """Names of UP, DOWN, LEFT and RIGHT, e.g. NORTH/SOUTH/WEST/EAST; none: unchanged."""
    symbols: Annotated[str, Readable(_symbols)] = NONE
    """Symbols of agent A, goal G, wall # or free cell _, e.g. A=@/G=X; none:
    unchanged.
    """
    view_radius: Count | None = None
    """Radius of the visible square, in cells; the rest is fog (3 in Arghal et al. 2026,
    appendix A). none: the whole grid.
    """
    reveal: Literal["cumulative", "current"] = "cumulative"
    """In fog: cumulative keeps seen cells visible; current hides them again when they
    are out of sight, so the agent has to remember.
    """
    perturbation: Literal[
        "none", "put_back", "close_path", "move_goal", "distractor"
    ] = "none"
    """Perturbation within the episode: the agent is put back to its start, a cell on
    its path becomes a wall, the goal moves, or an irrelevant coin appears.
    """
    perturbation_turn: Index = 3
    """Number of actions before the perturbation; 0: before the first observation."""

    def __post_init__(self) -> None:
        if self.size % 2 == 0:
            near = f"{self.size - 1} or {self.size + 1}"
            raise ValueError(
                f"an odd size, since mazes are carved on every second cell, e.g. {near}, got {self.size}"
            )
        if (
            self.min_distance
            and self.max_distance
            and self.min_distance > self.max_distance
        ):
            bounds = (
                f"min_distance {self.min_distance} and max_distance {self.max_distance}"
            )
            raise ValueError(f"min_distance no greater than max_distance, got {bounds}")
        if self.min_distance and not self.grids and self.min_distance > self._longest:
            most = f"{self._longest}, the longest possible path in size {self.size}"
            raise ValueError(f"min_distance of at most {most}, got {self.min_distance}")
        self._check_file()
        self._check_conditions()

    def _check_file(self) -> None:
        if self.where and not self.grids:
            raise ValueError(
                f"grids=FILE together with where, got only where {self.where!r}"
            )
        if not self.grids:
            return
        # Such a setting would be ignored, and the run would not be what its plan says.
        for each in fields(self):
            if each.name in RANDOM and getattr(self, each.name) != each.default:
                raise ValueError(
                    f"no {each.name} together with grids: grids of a file are used unchanged"
                )

    def _check_conditions(self) -> None:
        if self.perturbation == "put_back" and self.perturbation_turn == 0:
            raise ValueError(
                "a perturbation_turn of at least 1 for put_back (at turn 0 the agent is at its start), got 0"
            )
        if self.view_radius and "=*" in self.symbols:
            raise ValueError(
                f"symbols other than *, which stands for fog, got {self.symbols}"
            )
        if self.perturbation == "distractor" and "=C" in self.symbols:
            raise ValueError(
                f"symbols other than C, which stands for the distractor, got {self.symbols}"
            )

    def turns(self, steps: float) -> int:
        """Return the allowed turns for a number of needed steps."""
        # Rounded first: 1.1 x 10 is a little more than 11 in floating point and must
        # not become 12.
        allowed = math.ceil(round(self.horizon_factor * steps, 9))
        return min(allowed, self.horizon or allowed)

    @property
    def distances(self) -> range:
        """Allowed lengths of the shortest path."""
        least = self.min_distance or 1
        greatest = self.max_distance or self._longest
        return range(least, greatest + 1)

    @property
    def _longest(self) -> int:
        """Length of the longest possible path.

        A perfect maze of k x k cells has k^2 - 1 passages of two steps.
        """
        return (self.size - 1) ** 2 // 2 - 2


@dataclass(frozen=True, kw_only=True)
class GridTokensConfig:
    """Configuration of the metric `grid-tokens`."""

    weights: WeightsName = ""
    """Local weights of a served model, e.g. hf:PATH_OR_ID, or any other model with a
    tokenizer; empty for the agent's.
    """
