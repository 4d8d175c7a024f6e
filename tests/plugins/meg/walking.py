"""Episodes of the agents of the validity suite."""

from meg_studies.baselines.walkers import BLIND, SEEKING, walk

from gde.data.mdp import TabularMDP
from gde.numerics.tabular import solve
from gde.seeding import generator
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment
from gde_plugins.meg.trajectories.episodes import Episode


def mazes(n: int, density: float = 1.0, first: int = 0) -> list[TabularMDP]:
    """The models of `n` grids of 9 x 9."""
    environment, models = GridEnvironment(GridConfig(size=9, density=density)), []
    for seed in range(first, first + n):
        environment.reset(seed)
        models.append(environment.mdp())
    return models


def episodes(agent: str, worlds: list[TabularMDP]) -> list[Episode]:
    """One in each world, cut off after one and a half times the shortest way."""
    make = {**BLIND, **SEEKING}[agent]
    rng = generator(0, "walking", agent)
    return [
        walk(
            world,
            make(world),
            int(-1.5 * solve(world).value[world.start > 0][0]) + 1,
            str(i),
            rng,
        )
        for i, world in enumerate(worlds)
    ]
