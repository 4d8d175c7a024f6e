"""The grid world of a configuration: the grid, its perturbation, and the fog around
it.
"""

from gde_plugins.grid.conditions.fog import FoggyGrid, GridWorld
from gde_plugins.grid.conditions.perturbed import PerturbedGrid
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment


def compose(config: GridConfig) -> GridWorld:
    """The environment of this configuration.

    Raises:
        ConfigError: the file of grids cannot be used.
    """
    world: GridWorld = GridEnvironment(config)
    if config.perturbation != "none":
        world = PerturbedGrid(config, config.perturbation, config.perturbation_turn)
    if config.view_radius is not None:
        world = FoggyGrid(
            world, radius=config.view_radius, reveal=config.reveal, turns=config.turns
        )
    return world
