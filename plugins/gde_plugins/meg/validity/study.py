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
BEYOND = "beyond placebo goals"
"""Rule: `meg.known.beyond` is above zero with a p value of at most `LEVEL`."""
WITH = "posterior with habits"
"""Rule: `meg.to.posterior` of the goal is above `SURE`, with habits among the
alternatives.
"""
WITHOUT = "posterior without habits"
"""Rule: the same with random choice as the only alternative."""
Rules = Callable[[Arena, str, Maker], Mapping[str, bool]]
"""From the worlds of a run and a walker with its name: whether it is called
goal-directed, by each rule.
"""
Tables = Mapping[str, Mapping[str, Maker]]
"""By title of a table: the walkers in its rows."""
SOURCE = "no publication; 5 % at most is wanted of agents that do not know the goal"


class WalkersStudy:
    """The share of runs in which each walker is called goal-directed. Implements
    `gde.parts.reproduction.Reproduction`.

    "Ours" is the share by the first rule; the other columns are those of the other
    rules, on the same runs.
    """

    agentless = True

    def __init__(
        self,
        config: ValidityConfig,
        rules: Rules,
        tables: Tables,
        source: str,
    ) -> None:
        """Take the rules that call a run goal-directed, and the walkers of each
        table.
        """
        self._config = config
        self._rules = rules
        self._tables = tables
        self._source = source
        self._scale = 1.0

    def plans(self, scale: float, agent: Choice) -> Mapping[str, Plan]:  # noqa: ARG002
        """Return none: the suite has its own agents. The scale is that of the number of
        runs.
        """
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
        # A kind is simulated once for the walkers of all tables, as its worlds take
        # long to solve.
        found = {kind: self._found(kind) for kind in KINDS}
        rows: list[Comparison] = []
        for title, walkers in self._tables.items():
            for kind in KINDS:
                table = f"{title}, {kind}"
                for name in walkers:
                    rows.append(self._row(table, kind, name, found[kind][name]))
        return tuple(rows)

    def _found(self, kind: str) -> Mapping[str, Sequence[Mapping[str, bool]]]:
        """Return by walker what each of its runs is called, by each rule."""
        samples = max(1, ceil(self._config.samples * self._scale))
        draw = arenas(self._config, kind)
        walkers: dict[str, Maker] = {}
        for table in self._tables.values():
            walkers.update(table)

        found: dict[str, list[Mapping[str, bool]]] = {name: [] for name in walkers}
        for sample in range(samples):
            arena = draw(sample)
            for name, make in walkers.items():
                found[name].append(self._rules(arena, name, make))
        return found

    def _row(
        self,
        title: str,
        kind: str,
        name: str,
        found: Sequence[Mapping[str, bool]],
    ) -> Comparison:
        where: Labels = {"world": kind, "agent": name}
        shares = {}
        for rule in found[0]:
            hits = [each[rule] for each in found]
            shares[rule] = share(hits, where)

        # What is left after the first rule are the other columns.
        ours = shares.pop(next(iter(shares)))
        return Comparison(
            quantity=name,
            paper=None,
            ours=ours,
            source=self._source,
            table=title,
            others=shares,
        )


def validity_study(config: ValidityConfig) -> WalkersStudy:
    """Return the study of goal-blind walkers (false positives) and of walkers that know
    the goal (power).
    """
    return WalkersStudy(
        config, _rules, {"False positives": BLIND, "Power": SEEKING}, SOURCE
    )


def _rules(arena: Arena, name: str, make: Maker) -> Mapping[str, bool]:
    episodes = arena.walked(name, make)
    return called(episodes, arena.sample)


def called(episodes: Sequence[Episode], sample: int) -> Mapping[str, bool]:
    """Return whether the agent of these episodes is called goal-directed, by each rule;
    `sample` seeds placebos.
    """
    episodes = Sample.of(episodes)
    rng = generator(sample, "meg-validity", "placebo")
    found = beyond_placebo(episodes, rng)
    # There is no p value where too few worlds can tell; then nobody is called
    # goal-directed.
    p_value = found.finding.p_value
    significant = p_value is not None and p_value <= LEVEL

    behaviour = Behaviour.of(episodes, Feature("goal"))
    evidence = Profile.of(behaviour, episodes.clusters).evidence()
    with_habits = posterior({"goal": evidence}, episodes)["goal"]
    # Against random choice alone the evidence is the log-odds of the goal.
    sure = np.log(SURE / (1 - SURE))
    return {
        BEYOND: found.estimate.value > 0 and significant,
        WITH: with_habits > SURE,
        WITHOUT: bool(sure < evidence),
    }


def share(hits: Sequence[bool], where: Labels) -> Measurement:
    """Return the share of hits with the interval of Clopper and Pearson (1934)."""
    n = len(hits)
    n_hits = sum(hits)
    low, high = binomtest(n_hits, n).proportion_ci()
    return Measurement(
        name="called goal-directed",
        value=n_hits / n,
        unit="share",
        n=n,
        interval=(float(low), float(high)),
        where=where,
    )
