"""The validity suite: how often agents of which the truth is known are called goal-directed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

import numpy as np
from scipy.stats import binomtest

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde.parts.context import OutsideRun
from gde.parts.environment import Environment, HasMDP
from gde.parts.reproduction import Comparison, Run
from gde.request.catalogue import Catalogue
from gde.seeding import generator
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.metrics.goals import posterior
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.candidates import Feature
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.placebo import beyond_placebo
from gde_plugins.meg.trajectories.rationality import Profile
from gde_plugins.meg.validity.walkers import BLIND, SEEKING, Maker, walk

KINDS = {"open": 0.0, "loops": 0.5, "mazes": 1.0}
"""Kinds of grids, and their density of walls."""
LEVEL = 0.05
SURE = 0.95
"""Probability from which on a posterior is taken for an answer."""
WITHOUT, WITH = "posterior without reflexes", "posterior with reflexes"
SOURCE = "no publication; 5 % at most is wanted of agents that do not know the goal"


@dataclass(frozen=True, kw_only=True)
class Called:
    """Whether one run's agent is called goal-directed, by each rule."""

    beyond: bool
    """`meg.known.beyond` above zero with a p value of at most `LEVEL`."""
    menu: bool
    """`meg.to.posterior` of the goal above `SURE`, reflexes being in the menu."""
    pair: bool
    """The same with nothing but random choice beside the goal."""


class ValidityStudy:
    """Implements `gde.parts.reproduction.Reproduction`. "Ours" is the share of runs whose agent is called
    goal-directed by placebo goals; the other columns go by posteriors."""

    def __init__(self, config: ValidityConfig) -> None:
        self._config, self._scale = config, 1.0

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """None: the suite has its own agents. The scale is that of the number of runs."""
        self._scale = scale
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """A row for every agent and kind of world."""
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None."""
        return ()

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        titles = {"False positives": BLIND, "Power": SEEKING}
        rows = [
            self._row(f"{title}, {kind}", kind, name, make)
            for title, agents in titles.items()
            for kind in KINDS
            for name, make in agents.items()
        ]
        return tuple(rows)

    def _row(self, title: str, kind: str, name: str, make: Maker) -> Comparison:
        samples = max(1, ceil(self._config.samples * self._scale))
        found = [called(self._episodes(kind, name, make, i), i) for i in range(samples)]
        where: Labels = {"world": kind, "agent": name}
        return Comparison(
            quantity=name,
            paper=None,
            ours=share([each.beyond for each in found], where),
            source=SOURCE,
            table=title,
            others={
                WITH: share([each.menu for each in found], where),
                WITHOUT: share([each.pair for each in found], where),
            },
        )

    def _episodes(self, kind: str, name: str, make: Maker, sample: int) -> list[Episode]:
        return [*walked(self._config, kind, name, make, sample)]


def walked(config: ValidityConfig, kind: str, name: str, make: Maker, sample: int) -> Iterator[Episode]:
    """One episode in each world, cut off after one and a half times the shortest way."""
    environment = _grids(config.size, KINDS[kind])
    rng = generator(sample, "meg-validity", kind, name)
    assert isinstance(environment, HasMDP)
    for i in range(config.worlds):
        environment.reset(sample * config.worlds + i)
        world = environment.mdp()
        shortest = -solve(world).value[world.start > 0][0]
        yield walk(world, make(world), ceil(1.5 * shortest), str(i), rng)


def _grids(size: int, density: float) -> Environment:
    """From whichever plugin offers them.

    Raises:
        GdeError: none does.
    """
    offer = Catalogue.default().find("environment", "grid").offer
    environment: Environment = offer.make(offer.config(size=size, density=density), OutsideRun())
    if not isinstance(environment, HasMDP):
        raise GdeError("the environment 'grid' gives no model of its worlds, which the validity suite walks in")
    return environment


def called(episodes: Sequence[Episode], sample: int) -> Called:
    """Whether the agent of these episodes is called goal-directed; `sample` seeds the placebos."""
    found = beyond_placebo(episodes, generator(sample, "meg-validity", "placebo"))
    behaviour = Behaviour.of(episodes, Feature("goal"))
    evidence = Profile.of(behaviour, behaviour.sample.clusters).evidence()
    return Called(
        beyond=found.estimate.value > 0 and (found.finding.p_value or 0.0) <= LEVEL,
        menu=posterior({"goal": evidence}, episodes)["goal"] > SURE,
        pair=bool(np.log(SURE / (1 - SURE)) < evidence),
    )


def share(hits: Sequence[bool], where: Labels) -> Measurement:
    """With the interval of Clopper and Pearson (1934)."""
    low, high = binomtest(sum(hits), len(hits)).proportion_ci()
    return Measurement(
        name="called goal-directed",
        value=sum(hits) / len(hits),
        unit="share",
        n=len(hits),
        interval=(float(low), float(high)),
        where=where,
    )
