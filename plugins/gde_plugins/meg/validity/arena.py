"""The worlds of the validity suite, the same for all of its walkers."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from gde.data.mdp import Floats, TabularMDP
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasMDP
from gde.request.catalogue import Catalogue
from gde.seeding import generator
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.validity.walkers import Maker, walk

KINDS = {"open": 0.0, "loops": 0.5, "mazes": 1.0}
"""Kinds of grids, and their density of walls."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Arena:
    """The worlds of one run, drawn and solved once for all walkers."""

    kind: str
    """One of `KINDS`."""
    sample: int
    """Number of the run."""
    worlds: tuple[TabularMDP, ...]
    steps: tuple[int, ...]
    """Steps after which an episode in each is cut off: one and a half times the shortest way."""

    def walked(self, name: str, make: Maker) -> tuple[Episode, ...]:
        """Walk one episode in each world."""
        rng = generator(self.sample, "meg-validity", self.kind, name)
        episodes = []
        for i, (world, steps) in enumerate(zip(self.worlds, self.steps, strict=True)):
            episodes.append(walk(world, make(world), steps, str(i), rng))
        return tuple(episodes)


def arenas(config: ValidityConfig, kind: str) -> Callable[[int], Arena]:
    """Return a function from the number of a run to its arena; grids come from whichever plugin offers them.

    Raises:
        GdeError: no plugin does.
    """
    offer = Catalogue.default().find("environment", "grid").offer
    environment: Environment = offer.make(offer.config(size=config.size, density=KINDS[kind]), OutsideRun())
    if not isinstance(environment, HasMDP):
        raise GdeError("the environment 'grid' gives no model of its worlds, which the validity suite walks in")

    def draw(sample: int) -> Arena:
        worlds = []
        steps = []
        for i in range(config.worlds):
            environment.reset(sample * config.worlds + i)
            world = environment.mdp()
            value: Floats = solve(world).value
            shortest = -float(value[world.start > 0][0])
            worlds.append(world)
            steps.append(ceil(1.5 * shortest))
        return Arena(kind=kind, sample=sample, worlds=tuple(worlds), steps=tuple(steps))

    return draw
