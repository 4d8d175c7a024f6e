"""How often walkers with known aims are called goal-directed, by several rules."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import ceil

from scipy.stats import binomtest

from gde.data.figure import Figure
from gde.data.json import Labels
from gde.data.plan import Choice, Plan
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison, Run
from gde.seeding import generator
from gde_plugins.meg.baselines.arena import KINDS, Arena, arenas
from gde_plugins.meg.baselines.walkers import Maker
from gde_plugins.meg.config import BaselinesConfig
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.verdict.pursuits import pursuits_of
from gde_plugins.meg.verdict.randomisation import LEVEL, Randomisation

SURE = 0.95
"""Probability from which on a posterior counts as an answer."""
Rules = Callable[[Arena, str, Maker], Mapping[str, bool]]
"""From the worlds of a run and a walker with its name: whether it is called
goal-directed, by each rule.
"""
Tables = Mapping[str, Mapping[str, Maker]]
"""By title of a table: the walkers in its rows."""


class WalkersStudy:
    """The share of runs in which each walker is called goal-directed. Implements
    `gde.parts.reproduction.Reproduction`.

    "Ours" is the share by the first rule; the other columns are those of the other
    rules, on the same runs.
    """

    agentless = True

    def __init__(
        self,
        config: BaselinesConfig,
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


def called(arena: Arena, episodes: Sequence[Episode]) -> bool:
    """Return whether the verdict on the agent of these episodes is "shown"."""
    scored = []
    pairs = zip(arena.begins, episodes, strict=True)
    for number, (begin, episode) in enumerate(pairs):
        actions = [episode.mdp.actions[action] for action in episode.actions]
        with pursuits_of(begin) as pursuits:
            scored.append((str(number), pursuits.replayed(actions)))
    rng = generator(arena.sample, "meg-baselines", "verdict")
    return Randomisation.of(scored).p_value(rng) <= LEVEL


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
