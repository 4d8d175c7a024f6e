"""Where the walkers of the validity suite walk: the same worlds for all of them."""

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
    """The worlds of one run, drawn and solved once, whoever walks in them."""

    kind: str
    """One of `KINDS`."""
    sample: int
    """Number of the run."""
    worlds: tuple[TabularMDP, ...]
    steps: tuple[int, ...]
    """After how many steps an episode in each is cut off: one and a half times the shortest way."""

    def walked(self, name: str, make: Maker) -> tuple[Episode, ...]:
        """One episode in each world."""
        rng = generator(self.sample, "meg-validity", self.kind, name)
        each = enumerate(zip(self.worlds, self.steps, strict=True))
        return tuple(walk(world, make(world), steps, str(i), rng) for i, (world, steps) in each)


def arenas(config: ValidityConfig, kind: str) -> Callable[[int], Arena]:
    """Gives the arena of a run, by the run's number; grids come from whichever plugin offers them.

    Raises:
        GdeError: none does.
    """
    offer = Catalogue.default().find("environment", "grid").offer
    environment: Environment = offer.make(offer.config(size=config.size, density=KINDS[kind]), OutsideRun())
    if not isinstance(environment, HasMDP):
        raise GdeError("the environment 'grid' gives no model of its worlds, which the validity suite walks in")

    def drawn(seed: int) -> TabularMDP:
        environment.reset(seed)
        return environment.mdp()

    def draw(sample: int) -> Arena:
        worlds = tuple(drawn(sample * config.worlds + i) for i in range(config.worlds))
        return Arena(kind=kind, sample=sample, worlds=worlds, steps=tuple(ceil(1.5 * _way(each)) for each in worlds))

    return draw


def _way(world: TabularMDP) -> float:
    """Fewest steps to the goal."""
    value: Floats = solve(world).value
    return -float(value[world.start > 0][0])
