"""Random grids: a perfect maze less a share of its inner walls, an agent and a goal (Arghal et al. 2026, section 4)."""

import numpy as np
from numpy.typing import NDArray

from gde.data.cell_map import Position
from gde.data.json import NONE, Labels
from gde.errors import GdeError
from gde.seeding import generator
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.grid import FREE_SYMBOL, WALL_SYMBOL, Grid, Origin, identity
from gde_plugins.grid.solver.dynamics import MOVES, FreeCells

ATTEMPTS = 50
"""Mazes tried before it is said that none has agent and goal as far apart as wanted."""


def generate(size: int, density: float, rng: np.random.Generator, *, distances: range | None = None) -> Grid:
    """A random grid in which every free cell can be reached from every other.

    The goal is uniform over the free cells, the agent uniform over the others. With `distances`, the goal is
    uniform over the cells that have others at a wanted distance, the agent uniform over those.

    Args:
        size: rows and columns, outer wall included; odd, at least 5.
        density: share of inner walls that stay, in [0, 1].
        rng: the only source of chance.
        distances: shortest ways from agent to goal that are wanted, in steps; all when None.

    Raises:
        ValueError: `size` or `density` outside its range.
        GdeError: no agent and goal at a wanted distance in many mazes.
    """
    if size < 5 or size % 2 == 0 or not 0 <= density <= 1:
        raise ValueError(f"a grid needs an odd size of at least 5 and a density in [0, 1], got {size} and {density}")
    wanted = range(1, size**2) if distances is None else distances
    for _ in range(ATTEMPTS):
        walls = _maze(size, rng)
        _remove_walls(walls, density, rng)
        if placed := _place(walls, wanted, rng):
            agent, goal = placed
            rows = tuple("".join(row) for row in np.where(walls, WALL_SYMBOL, FREE_SYMBOL).tolist())
            return Grid(rows=rows, agent=agent, goal=goal)
    raise GdeError(
        f"no grid of size {size} and density {density} with agent and goal {wanted.start} to {wanted.stop - 1} steps"
        f" apart in {ATTEMPTS} attempts: widen min_distance and max_distance, or choose a larger size"
    )


def _maze(size: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(size, size) walls of a perfect maze: depth-first search over the cells with odd indices, in random order."""
    walls = [[True] * size for _ in range(size)]  # no array: its cells are read and written one by one
    row, column = (2 * int(rng.integers(size // 2)) + 1 for _ in range(2))
    walls[row][column] = False
    way = [(row, column)]
    while way:
        row, column = way[-1]
        ahead = [move for move in MOVES.values() if _closed(walls, row + 2 * move[0], column + 2 * move[1])]
        if not ahead:
            way.pop()
            continue
        down, right = ahead[int(rng.integers(len(ahead)))]
        walls[row + down][column + right] = walls[row + 2 * down][column + 2 * right] = False
        way.append((row + 2 * down, column + 2 * right))
    return np.array(walls)


def _closed(walls: list[list[bool]], row: int, column: int) -> bool:
    size = len(walls)
    return 0 < row < size and 0 < column < size and walls[row][column]


def _remove_walls(walls: NDArray[np.bool_], density: float, rng: np.random.Generator) -> None:
    inner = np.argwhere(walls[1:-1, 1:-1]) + 1
    removed = rng.permutation(inner)[: int((1 - density) * len(inner))]
    walls[removed[:, 0], removed[:, 1]] = False
    # A pillar removed from between four standing walls would be a free cell that nothing can reach (the generator
    # of Arghal et al. (2026) leaves such cells). It stands, and one of the walls around it, which part two free
    # cells, goes.
    for row, column in removed.tolist():
        around = [(row + down, column + right) for down, right in MOVES.values()]
        if all(walls[cell] for cell in around):
            walls[row, column] = True
            walls[around[int(rng.integers(len(around)))]] = False


def _place(walls: NDArray[np.bool_], wanted: range, rng: np.random.Generator) -> tuple[Position, Position] | None:
    """Agent and goal, or None where no two cells are as far apart as wanted."""
    cells = FreeCells.of(walls)
    for goal in rng.permutation(len(cells.positions)):
        steps = cells.steps_to(int(goal))
        agents = np.flatnonzero((steps >= wanted.start) & (steps < wanted.stop))
        if agents.size:
            agent = agents[int(rng.integers(agents.size))]
            return _position(cells, agent), _position(cells, goal)
    return None


def _position(cells: FreeCells, index: np.intp) -> Position:
    row, column = cells.positions[index]
    return int(row), int(column)


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
