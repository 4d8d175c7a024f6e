"""The validity suite: how often agents with known aims are called goal-directed."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import ceil

import numpy as np
from scipy.stats import binomtest

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run
from gde.seeding import generator
from gde_plugins.meg.config import ValidityConfig
from gde_plugins.meg.metrics.goals import posterior
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.placebo import beyond_placebo
from gde_plugins.meg.trajectories.rationality import Profile
from gde_plugins.meg.trajectories.sample import Sample
from gde_plugins.meg.trajectories.utilities import Feature
from gde_plugins.meg.validity.arena import KINDS, Arena, arenas
from gde_plugins.meg.validity.walkers import BLIND, SEEKING, Maker

LEVEL = 0.05
SURE = 0.95
"""Probability from which on a posterior counts as an answer."""
BEYOND, WITH, WITHOUT = "beyond placebo goals", "posterior with habits", "posterior without habits"
"""The rules: `meg.known.beyond` above zero with a p value of at most `LEVEL`; `meg.to.posterior` of the goal above
`SURE`, with habits among the alternatives; the same with random choice as the only alternative."""
Rules = Callable[[Arena, str, Maker], Mapping[str, bool]]
"""From the worlds of a run and a walker with its name: whether it is called goal-directed, by each rule."""
Tables = Mapping[str, Mapping[str, Maker]]
SOURCE = "no publication; 5 % at most is wanted of agents that do not know the goal"


class WalkersStudy:
    """In what share of its runs each walker is called goal-directed; a `gde.parts.reproduction.Reproduction`.

    "Ours" is the first rule's share; the other columns are those of the other rules, on the same runs.
    """

    agentless = True

    def __init__(self, config: ValidityConfig, rules: Rules, tables: Tables, source: str) -> None:
        """Take the rules that call a run goal-directed, and the walkers of each table."""
        self._config = config
        self._rules = rules
        self._tables = tables
        self._source = source
        self._scale = 1.0

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """Return none: the suite has its own agents. The scale is that of the number of runs."""
        self._scale = scale
        return {}

    def compare(self, runs: Mapping[str, Run]) -> Sequence[Comparison]:  # noqa: ARG002
        """Return a row for every walker and kind of world."""
        return self._rows

    def figures(self, runs: Mapping[str, Run]) -> Sequence[Figure]:  # noqa: ARG002
        """Return none."""
        return ()

    @cached_property
    def _rows(self) -> tuple[Comparison, ...]:
        found = {kind: self._found(kind) for kind in KINDS}
        rows: list[Comparison] = []
        for title, walkers in self._tables.items():
            for kind in KINDS:
                rows += [self._row(f"{title}, {kind}", kind, name, found[kind][name]) for name in walkers]
        return tuple(rows)

    def _found(self, kind: str) -> Mapping[str, Sequence[Mapping[str, bool]]]:
        """Return by walker what each of its runs is called, by each rule."""
        samples = max(1, ceil(self._config.samples * self._scale))
        walkers: dict[str, Maker] = {}
        for each in self._tables.values():
            walkers.update(each)
        found: dict[str, list[Mapping[str, bool]]] = {name: [] for name in walkers}
        draw = arenas(self._config, kind)
        for sample in range(samples):
            arena = draw(sample)
            for name, make in walkers.items():
                found[name].append(self._rules(arena, name, make))
        return found

    def _row(self, title: str, kind: str, name: str, found: Sequence[Mapping[str, bool]]) -> Comparison:
        where: Labels = {"world": kind, "agent": name}
        shares = {rule: share([each[rule] for each in found], where) for rule in found[0]}
        ours, *others = shares
        return Comparison(
            quantity=name,
            paper=None,
            ours=shares[ours],
            source=self._source,
            table=title,
            others={rule: shares[rule] for rule in others},
        )


def validity_study(config: ValidityConfig) -> WalkersStudy:
    """Return the study of goal-blind walkers (false positives) and of walkers that know the goal (power)."""
    return WalkersStudy(config, _rules, {"False positives": BLIND, "Power": SEEKING}, SOURCE)


def _rules(arena: Arena, name: str, make: Maker) -> Mapping[str, bool]:
    return called(arena.walked(name, make), arena.sample)


def called(episodes: Sequence[Episode], sample: int) -> Mapping[str, bool]:
    """Return whether the agent of these episodes is called goal-directed, by each rule; `sample` seeds placebos."""
    episodes = Sample.of(episodes)
    found = beyond_placebo(episodes, generator(sample, "meg-validity", "placebo"))
    # There is no p value where too few worlds can tell; then nobody is called goal-directed.
    p_value = found.finding.p_value
    behaviour = Behaviour.of(episodes, Feature("goal"))
    evidence = Profile.of(behaviour, behaviour.sample.clusters).evidence()
    return {
        BEYOND: found.estimate.value > 0 and p_value is not None and p_value <= LEVEL,
        WITH: posterior({"goal": evidence}, episodes)["goal"] > SURE,
        WITHOUT: bool(np.log(SURE / (1 - SURE)) < evidence),
    }


def share(hits: Sequence[bool], where: Labels) -> Measurement:
    """Return the share of hits with the interval of Clopper and Pearson (1934)."""
    low, high = binomtest(sum(hits), len(hits)).proportion_ci()
    return Measurement(
        name="called goal-directed",
        value=sum(hits) / len(hits),
        unit="share",
        n=len(hits),
        interval=(float(low), float(high)),
        where=where,
    )
