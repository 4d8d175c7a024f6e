"""Where a grid comes from before it is transformed: a random generator, or (see `files`) a file."""

from dataclasses import dataclass
from hashlib import sha256

from gde.data.grid import Grid
from gde.data.json import Labels
from gde.seeding import generator
from gde_plugins.grid.config import NONE, GridConfig
from gde_plugins.grid.generation import generate


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


def random_origin(config: GridConfig, seed: int) -> Origin:
    """The random grid of this seed. Transforms and vocabulary play no part in it.

    Raises:
        GdeError: no grid has agent and goal as far apart as the configuration wants.
    """
    # A stream for each setting: otherwise grids of two densities would be one maze with more or fewer walls, and
    # no longer independent worlds.
    settings = (config.size, repr(config.density), str(config.min_distance), str(config.max_distance))
    grid = generate(config.size, config.density, generator(seed, "grid", *settings), distances=config.distances)
    labels: Labels = {"size": config.size, "density": config.density, "transform": NONE}
    return Origin(grid=grid, base=identity(grid), labels=labels)


def identity(grid: Grid, *words: str) -> str:
    """A short text, equal for equal grids that are put in equal words."""
    content = "\n".join([*grid.rows, str(grid.agent), str(grid.goal), *words])
    return sha256(content.encode()).hexdigest()[:16]
