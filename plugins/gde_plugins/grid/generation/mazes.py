"""Random grids: a perfect maze less a share of its inner walls, an agent and a goal
(Arghal et al. 2026, section 4).
"""

import numpy as np

from gde.data.arrays import Bools
from gde.data.cell_map import Position
from gde.data.json import NONE, Labels
from gde.errors import GdeError
from gde.seeding import generator, pick
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.grid import Grid, Origin, identity, rows_of
from gde_plugins.grid.solver.dynamics import MOVES, as_position, steps_to

ATTEMPTS = 50
"""Mazes tried before the search for a wanted distance fails."""


def generate(
    size: int,
    density: float,
    rng: np.random.Generator,
    *,
    distances: range | None = None,
) -> Grid:
    """Make a random grid in which every free cell can be reached from every other.

    The goal is uniform over the free cells, the agent uniform over the others. With
    `distances`, the goal is uniform over the cells that have others at a wanted
    distance, the agent uniform over those.

    Args:
        size: rows and columns, outer wall included; odd, at least 5.
        density: share of inner walls that stay, in [0, 1].
        rng: the only source of chance.
        distances: wanted lengths of the shortest way from agent to goal, in steps; any
            when None.

    Raises:
        GdeError: no agent and goal at a wanted distance in many mazes.
    """
    wanted = range(1, size**2) if distances is None else distances
    for _ in range(ATTEMPTS):
        walls = _maze(size, rng)
        _remove_walls(walls, density, rng)
        placed = _place(walls, wanted, rng)
        if placed is not None:
            agent, goal = placed
            return Grid(rows=rows_of(walls), agent=agent, goal=goal)
    raise GdeError(
        f"no grid of size {size} and density {density} with agent and goal {wanted.start} to {wanted.stop - 1} steps"
        f" apart in {ATTEMPTS} attempts: widen min_distance and max_distance, or choose a larger size"
    )


def _maze(size: int, rng: np.random.Generator) -> Bools:
    """Return (size, size) walls of a perfect maze: random depth-first search over the
    cells with odd indices.
    """
    # Lists, because single cells of an array are slow to read and write.
    walls = [[True] * size for _ in range(size)]
    row = 2 * int(rng.integers(size // 2)) + 1
    column = 2 * int(rng.integers(size // 2)) + 1
    walls[row][column] = False

    way = [(row, column)]
    while way:
        row, column = way[-1]
        ahead = []
        for down, right in MOVES.values():
            if _is_closed(walls, row + 2 * down, column + 2 * right):
                ahead.append((down, right))
        if not ahead:
            way.pop()
            continue

        # Open the next cell and the wall on the way to it.
        down, right = pick(ahead, rng)
        for _ in range(2):
            row += down
            column += right
            walls[row][column] = False
        way.append((row, column))
    return np.array(walls)


def _is_closed(walls: list[list[bool]], row: int, column: int) -> bool:
    size = len(walls)
    is_inside = 0 < row < size and 0 < column < size
    return is_inside and walls[row][column]


def _remove_walls(walls: Bools, density: float, rng: np.random.Generator) -> None:
    inner = np.argwhere(walls[1:-1, 1:-1]) + 1
    n_removed = int((1 - density) * len(inner))
    removed = rng.permutation(inner)[:n_removed]
    walls[removed[:, 0], removed[:, 1]] = False

    # A pillar removed from between four standing walls would be a free cell that
    # nothing can reach (the generator of Arghal et al. (2026) leaves such cells). It
    # stands, and one of the walls around it, which part two free cells, goes.
    for row, column in removed.tolist():
        around = [(row + down, column + right) for down, right in MOVES.values()]
        if all(walls[cell] for cell in around):
            opened = pick(around, rng)
            walls[row, column] = True
            walls[opened] = False


def _place(
    walls: Bools, wanted: range, rng: np.random.Generator
) -> tuple[Position, Position] | None:
    """Return agent and goal, or None if no two cells are as far apart as wanted."""
    for goal in rng.permutation(np.argwhere(~walls)):
        steps = steps_to(walls, [goal])
        agents = np.argwhere((steps >= wanted.start) & (steps < wanted.stop))
        if len(agents):
            agent = agents[int(rng.integers(len(agents)))]
            return as_position(agent), as_position(goal)
    return None


def random_origin(config: GridConfig, seed: int) -> Origin:
    """Make the random grid of a seed. Transforms and vocabulary have no influence on
    it.

    Raises:
        GdeError: no grid has agent and goal as far apart as the configuration wants.
    """
    # A stream for each setting: otherwise grids of two densities would be one maze with
    # more or fewer walls, and no longer independent worlds.
    settings = (
        config.size,
        repr(config.density),
        str(config.min_distance),
        str(config.max_distance),
    )
    rng = generator(seed, "grid", *settings)
    grid = generate(config.size, config.density, rng, distances=config.distances)
    labels: Labels = {"size": config.size, "density": config.density, "transform": NONE}
    return Origin(grid=grid, base=identity(grid), labels=labels)
