"""Numbers that are declared over columns of episodes.

One declaration gives the number of a run, of a condition, and of each world.
"""

from dataclasses import KW_ONLY, dataclass, replace
from statistics import fmean
from typing import Literal, Protocol

import numpy as np

from gde.data.arrays import Bools, Doubles, Ints
from gde.data.episode_table import EPISODES, EpisodeTable
from gde.data.result import Measurement
from gde.numerics.episodes import NOTHING_FINISHED, Need, unmeasured
from gde.numerics.stats import (
    cluster_mean,
    cluster_ratio,
    cluster_share,
    within_trials,
)
from gde.seeding import generator


@dataclass(frozen=True)
class Missing:
    """What no episode may lack, since a mean over the others would be of other
    episodes.
    """

    column: str
    """Counts what is missing."""
    of: str
    """Counts what could be."""
    reason: str
    """May tell both sums: "{} of {} turns have no certified optimal actions"."""

    @classmethod
    def of_turns(cls, need: Need, column: str) -> "Missing":
        """What the turns, counted by the column "turns", may lack."""
        return cls(column, "turns", f"{{}} of {{}} turns have no {need.what}")


class Number(Protocol):
    """A number of any set of episodes."""

    @property
    def name(self) -> str:
        """As in `Measurement.name`."""

    @property
    def only(self) -> str:
        """A column that some finished episode must have, else there is no such number,
        as those of fog without fog; empty for none.
        """

    def measured(self, table: EpisodeTable, seed: int) -> Measurement:
        """The number of all episodes; `seed` is that of the resampling."""

    def each(self, table: EpisodeTable, groups: Ints, n_groups: int) -> Doubles:
        """(n_groups,) the number of each group of episodes, nan where it has none.

        Args:
            table: N episodes.
            groups: (N,) group of each episode; a group lies in one cluster.
            n_groups: their number.
        """


@dataclass(frozen=True)
class Mean:
    """A mean over episodes or worlds."""

    name: str
    column: str
    _: KW_ONLY
    per: str = EPISODES
    """Divides the column in each episode; episodes where it is zero are left out."""
    over: Literal["episodes", "worlds"] = "episodes"
    """What counts equally; `n` counts it."""
    share: bool = True
    """Whether values lie in [0, 1]."""
    missing: tuple[Missing, ...] = ()
    """The first that an episode has refuses the number."""
    reason: str = NOTHING_FINISHED
    """Why there is no number where no finished episode has a value."""
    only: str = ""

    def measured(self, table: EpisodeTable, seed: int) -> Measurement:
        above, below, known = _known(table, self.column, self.per)
        reason = _why_none(table, self.missing, known, self.reason)
        if reason:
            return unmeasured(self.name, reason)
        values = above / below
        clusters = table.clusters[known]
        if self.over == "worlds":
            values, first = _means(values, table.worlds[known])
            clusters = clusters[first]
        estimate = cluster_share if self.share else cluster_mean
        rng = generator(seed, "metric", self.name)
        return estimate(values, clusters, rng).measurement(self.name)

    def each(self, table: EpisodeTable, groups: Ints, n_groups: int) -> Doubles:
        above, below, known = _known(table, self.column, self.per)
        values = above / below
        of_group = groups[known]
        if self.share:
            values = within_trials(values, np.ones(len(values)))
        if self.over == "worlds":
            # A world may have episodes in several groups.
            n_worlds = int(table.worlds.max(initial=0)) + 1
            values, first = _means(values, of_group * n_worlds + table.worlds[known])
            of_group = of_group[first]
        found = _ratios(values, np.ones(len(values)), of_group, n_groups)
        return _refused(found, self.missing, table, groups)


@dataclass(frozen=True)
class Ratio:
    """The ratio of two sums; `n` is the lower one."""

    name: str
    column: str
    _: KW_ONLY
    per: str
    share: bool = True
    """Whether the column lies between 0 and `per`."""
    missing: tuple[Missing, ...] = ()
    reason: str = NOTHING_FINISHED
    only: str = ""

    def measured(self, table: EpisodeTable, seed: int) -> Measurement:
        above, below, known = _known(table, self.column, self.per)
        reason = _why_none(table, self.missing, known, self.reason)
        if reason:
            return unmeasured(self.name, reason)
        clusters = table.clusters[known]
        rng = generator(seed, "metric", self.name)
        found = (
            cluster_share(above, clusters, rng, trials=below)
            if self.share
            else cluster_ratio(above, below, clusters, rng)
        )
        return replace(found, n=int(below.sum())).measurement(self.name)

    def each(self, table: EpisodeTable, groups: Ints, n_groups: int) -> Doubles:
        above, below, known = _known(table, self.column, self.per)
        if self.share:
            above = within_trials(above, below)
        found = _ratios(above, below, groups[known], n_groups)
        return _refused(found, self.missing, table, groups)


@dataclass(frozen=True)
class Total:
    """A sum over episodes; `n` is their number."""

    name: str
    column: str
    only: str = ""

    def measured(self, table: EpisodeTable, seed: int) -> Measurement:  # noqa: ARG002  # a sum is not resampled
        total = np.nansum(table[self.column])
        return Measurement(name=self.name, value=float(total), n=len(table))

    def each(self, table: EpisodeTable, groups: Ints, n_groups: int) -> Doubles:
        values = np.nan_to_num(table[self.column])
        return _sums(values, groups, n_groups)


def _why_none(
    table: EpisodeTable,
    missing: tuple[Missing, ...],
    known: Bools,
    reason: str,
) -> str:
    """Why there is no number of a table; empty where there is one.

    Args:
        table: N episodes.
        missing: what refuses the number.
        known: (N,) which episodes have a value.
        reason: why none has where finished ones told their facts.
    """
    for each in missing:
        n_missing = int(np.nansum(table[each.column]))
        n = int(np.nansum(table[each.of]))
        if not n:
            return _nothing(table, NOTHING_FINISHED)
        if n_missing:
            return each.reason.format(n_missing, n)
    return "" if known.any() else _nothing(table, reason)


def _nothing(table: EpisodeTable, reason: str) -> str:
    n_faults = int(table.faults.sum())
    if n_faults:
        return f"the facts of {n_faults} of {len(table)} episodes failed"
    return reason if (table["ending.failed"] == 0).any() else NOTHING_FINISHED


def _known(
    table: EpisodeTable, column: str, per: str
) -> tuple[Doubles, Doubles, Bools]:
    """Both columns in the K episodes where there is a ratio, and (N,) which these
    are.
    """
    above = table[column]
    below = table[per]
    known = ~np.isnan(above) & (below > 0)
    return above[known], below[known], known


def _refused(
    found: Doubles, missing: tuple[Missing, ...], table: EpisodeTable, groups: Ints
) -> Doubles:
    """Leave out the groups in which something is missing."""
    for each in missing:
        column = np.nan_to_num(table[each.column])
        n_missing = _sums(column, groups, len(found))
        found = np.where(n_missing > 0, np.nan, found)
    return found


def _ratios(above: Doubles, below: Doubles, groups: Ints, n_groups: int) -> Doubles:
    sums = _sums(above, groups, n_groups)
    of = _sums(below, groups, n_groups)
    found: Doubles = np.full(n_groups, np.nan)
    np.divide(sums, of, out=found, where=of > 0)
    return found


def _sums(values: Doubles, groups: Ints, n_groups: int) -> Doubles:
    return np.bincount(groups, weights=values, minlength=n_groups).astype(np.float64)


def _means(values: Doubles, groups: Ints) -> tuple[Doubles, Ints]:
    """The exact mean of each group, and its first place; groups in the order in which
    they come.
    """
    _, first, index = np.unique(groups, return_index=True, return_inverse=True)
    counts = np.bincount(index)
    means = values[first]
    if counts.max(initial=1) > 1:
        # A sum that does not depend on the order of a world's episodes.
        order = np.argsort(index, kind="stable")
        pieces = np.split(values[order], np.cumsum(counts)[:-1])
        means = np.array([fmean(piece) for piece in pieces])
    place = np.argsort(first)
    return means[place], first[place]
