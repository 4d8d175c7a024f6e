"""The worlds of the study of baselines, the same for all of its walkers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasMDP
from gde.request.catalogue import Catalogue
from gde.seeding import generator
from gde_plugins.meg.trajectories.episodes import Episode
from meg_studies.baselines.walkers import Maker, walk
from meg_studies.config import BaselinesConfig

KINDS = {"open": 0.0, "loops": 0.5, "mazes": 1.0}
"""Kinds of grids, and their density of walls."""
PATIENCE = 1.5
"""Steps of an episode, as a multiple of the shortest way."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Arena:
    """The worlds of one run, drawn and solved once for all walkers."""

    kind: str
    """One of `KINDS`."""
    sample: int
    """Number of the run."""
    worlds: tuple[TabularMDP, ...]
    begins: tuple[Callable[[], Environment], ...]
    """Begin each of them."""
    steps: tuple[int, ...]
    """Steps after which an episode in each is cut off, see `PATIENCE`."""

    def walked(self, name: str, make: Maker) -> tuple[Episode, ...]:
        """Walk one episode in each world."""
        rng = generator(self.sample, "meg-validity", self.kind, name)
        episodes: list[Episode] = []
        for world, steps in zip(self.worlds, self.steps, strict=True):
            cluster = str(len(episodes))
            episodes.append(walk(world, make(world), steps, cluster, rng))
        return tuple(episodes)


def arenas(config: BaselinesConfig, kind: str) -> Callable[[int], Arena]:
    """Return a function from the number of a run to its arena; grids come from
    whichever plugin offers them.

    Raises:
        GdeError: no plugin does.
    """
    offer = Catalogue.default().find("environment", "grid").offer
    settings = offer.config(size=config.size, density=KINDS[kind])
    environment: Environment = offer.made(settings, OutsideRun())
    if not isinstance(environment, HasMDP):
        raise GdeError(
            "the environment 'grid' gives no model of its worlds, which the walkers walk in"
        )

    def begin(seed: int) -> Environment:
        another: Environment = offer.made(settings, OutsideRun())
        another.reset(seed)
        return another

    def draw(sample: int) -> Arena:
        worlds = []
        steps = []
        begins = []
        # Seeds follow one another, so that no two runs share a world.
        first = sample * config.worlds
        for seed in range(first, first + config.worlds):
            environment.reset(seed)
            world = environment.mdp()
            # Every step costs one, so the value of the start is the length of the
            # shortest way.
            value: Doubles = solve(world).value
            shortest = -float(value[world.start > 0][0])
            worlds.append(world)
            begins.append(partial(begin, seed))
            steps.append(ceil(PATIENCE * shortest))
        return Arena(
            kind=kind,
            sample=sample,
            worlds=tuple(worlds),
            begins=tuple(begins),
            steps=tuple(steps),
        )

    return draw
