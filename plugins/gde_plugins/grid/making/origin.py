"""A grid before it is transformed, wherever it comes from."""

from dataclasses import dataclass
from hashlib import sha256

from gde.data.json import Labels
from gde_plugins.grid.grid import Grid


@dataclass(frozen=True, kw_only=True)
class Origin:
    """A grid as it was made or read."""

    grid: Grid
    base: str
    """Equal for grids that are variations of one another."""
    labels: Labels
    """What is known of it: at least `size` and `transform`, which is "none" unless it was read transformed."""
    record: str = ""
    """Its id in the file that it was read from; empty for a random grid."""


def identity(grid: Grid, *words: str) -> str:
    """A short text, equal for equal grids that are put in equal words."""
    content = "\n".join([*grid.rows, str(grid.agent), str(grid.goal), *words])
    return sha256(content.encode()).hexdigest()[:16]
