"""The validity suite: how often agents of which the truth is known are called goal-directed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
BEYOND, WITH, WITHOUT = "beyond placebo goals", "posterior with reflexes", "posterior without reflexes"
"""The rules: `meg.known.beyond` above zero with a p value of at most `LEVEL`; `meg.to.posterior` of the goal above
`SURE`, reflexes being in the menu; the same with nothing but random choice beside the goal."""
Rules = Callable[[ValidityConfig, str, str, Maker, int], Mapping[str, bool]]
"""From a kind of world, a walker and the number of a run: whether it is called goal-directed, by each rule."""
Tables = Mapping[str, Mapping[str, Maker]]
SOURCE = "no publication; 5 % at most is wanted of agents that do not know the goal"


class WalkersStudy:
    """Implements `gde.parts.reproduction.Reproduction`: in what share of its runs each walker is called goal-directed.
    "Ours" is the first rule's share; the other columns are those of the other rules, on the same runs."""

    def __init__(self, config: ValidityConfig, rules: Rules, tables: Tables, source: str) -> None:
        """Take what calls a run goal-directed, by each rule, and the walkers of each table."""
        self._config, self._rules, self._tables, self._source = config, rules, tables, source
        self._scale = 1.0

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """None: the suite has its own agents. The scale is that of the number of runs."""
        self._scale = scale
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """A row for every walker and kind of world."""
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """None."""
        return ()

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        return tuple(
            self._row(f"{title}, {kind}", kind, name, make)
            for title, walkers in self._tables.items()
            for kind in KINDS
            for name, make in walkers.items()
        )

    def _row(self, title: str, kind: str, name: str, make: Maker) -> Comparison:
        samples = max(1, ceil(self._config.samples * self._scale))
        where: Labels = {"world": kind, "agent": name}
        found = [self._rules(self._config, kind, name, make, sample) for sample in range(samples)]
        ours, *others = ((rule, share([each[rule] for each in found], where)) for rule in found[0])
        return Comparison(
            quantity=name, paper=None, ours=ours[1], source=self._source, table=title, others=dict(others)
        )


def validity_study(config: ValidityConfig) -> WalkersStudy:
    """How often walkers that are blind to the goal are called goal-directed, and how often those that know it."""
    return WalkersStudy(config, _rules, {"False positives": BLIND, "Power": SEEKING}, SOURCE)


def _rules(config: ValidityConfig, kind: str, name: str, make: Maker, sample: int) -> Mapping[str, bool]:
    return called([*walked(config, kind, name, make, sample)], sample)


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


def called(episodes: Sequence[Episode], sample: int) -> Mapping[str, bool]:
    """Whether the agent of these episodes is called goal-directed, by each rule; `sample` seeds the placebos."""
    found = beyond_placebo(episodes, generator(sample, "meg-validity", "placebo"))
    p_value = found.finding.p_value  # None where too few worlds can tell: then nobody is called anything
    behaviour = Behaviour.of(episodes, Feature("goal"))
    evidence = Profile.of(behaviour, behaviour.sample.clusters).evidence()
    return {
        BEYOND: found.estimate.value > 0 and p_value is not None and p_value <= LEVEL,
        WITH: posterior({"goal": evidence}, episodes)["goal"] > SURE,
        WITHOUT: bool(np.log(SURE / (1 - SURE)) < evidence),
    }


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
