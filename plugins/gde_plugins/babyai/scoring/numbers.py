"""Numbers over answers that are no means: leads over blind baselines, and pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gde.data.arrays import Doubles, Ints
from gde.data.episode_table import EpisodeTable
from gde.data.result import Measurement
from gde.numerics.controls import compare_with_control
from gde.numerics.episodes import unmeasured
from gde.numerics.numbers import Mean
from gde.numerics.stats import cluster_share
from gde.seeding import generator

BOTH = (Mean("ours", "ours"), Mean("theirs", "theirs"))


@dataclass(frozen=True)
class Lead:
    """The difference of a rate from that of the best blind baseline, paired by world."""

    rate: str
    baselines: Sequence[str]
    """The first of equally good ones counts."""
    only: str = ""

    @property
    def name(self) -> str:
        return f"{self.rate}.above_blind"

    def measured(self, table: EpisodeTable, seed: int) -> Measurement:
        whole = np.zeros_like(table.worlds)
        best, paired = self._paired(table, whole, 1)
        known = ~np.isnan(paired["ours"])
        if not known.any():
            none = Mean(self.name, "ours", reason="no blind baseline has this score")
            return none.measured(paired, seed)
        clusters = table.clusters[known]
        # In the order of first episodes, in which worlds are resampled.
        order = list(dict.fromkeys(clusters.tolist()))
        ours, theirs = (
            mean.each(paired, table.clusters, max(order) + 1)[order] for mean in BOTH
        )
        rng = generator(seed, "metric", self.name)
        control = self.baselines[best[0]]
        verdict = compare_with_control(control, ours, theirs[None], rng)
        return Measurement(
            name=self.name,
            value=verdict.difference,
            n=len(clusters),
            clusters=len(order),
            interval=verdict.interval,
            verdict=verdict,
        )

    def each(self, table: EpisodeTable, groups: Ints, n_groups: int) -> Doubles:
        _, paired = self._paired(table, groups, n_groups)
        ours, theirs = (mean.each(paired, groups, n_groups) for mean in BOTH)
        return ours - theirs

    def _paired(
        self, table: EpisodeTable, groups: Ints, n_groups: int
    ) -> tuple[Ints, EpisodeTable]:
        """The best baseline of each group, and the rates of episodes that have both."""
        columns = [f"{self.rate}.blind.{name}" for name in self.baselines]
        rates = [Mean(one, one).each(table, groups, n_groups) for one in columns]
        best = np.nan_to_num(rates, nan=-1).argmax(axis=0)
        theirs = np.choose(best[groups], [table[one] for one in columns])
        ours = table[self.rate] + 0 * theirs
        return best, replace(table, facts={"ours": ours, "theirs": theirs + 0 * ours})


@dataclass(frozen=True)
class Pairs:
    """The share of grounded pairs with two right answers.

    A deterministic answer that does not read the world has none.
    """

    name: str
    only: str = ""

    def measured(self, table: EpisodeTable, seed: int) -> Measurement:
        both = self.each(table, table.clusters, int(table.clusters.max(initial=0)) + 1)
        both = both[~np.isnan(both)]
        if not len(both):
            return unmeasured(self.name, "no pair was asked: set env.grounded=true")
        rng = generator(seed, "metric", self.name)
        return cluster_share(both, range(len(both)), rng).measurement(self.name)

    def each(self, table: EpisodeTable, groups: Ints, n_groups: int) -> Doubles:
        known = ~np.isnan(table["right"])
        n = np.bincount(groups[known], minlength=n_groups)
        right = np.bincount(groups[known], table["right"][known], n_groups)
        return np.where(n > 1, right == n, np.nan)
