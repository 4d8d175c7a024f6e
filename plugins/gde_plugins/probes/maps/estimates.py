"""Measurements of decoded maps with intervals over worlds, collected one after the
other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import (
    RESAMPLES,
    cluster_mean,
    cluster_ratio,
    cluster_share,
    expanded_bca,
)
from gde_plugins.probes.arrays import CELLS, Bools, Codes, Doubles, Floats, Worlds

BINS = 10
"""Bins of confidence, equally wide."""


@dataclass
class Scores:
    """Collects measurements that share their worlds and their generator; arrays are (N,
    size, size) unless noted.
    """

    groups: Worlds
    """(N,)."""
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.measurements: list[Measurement] = []

    def share(self, name: str, hits: Bools, trials: Bools, reason: str) -> None:
        """Add the share of hits among the cells tried, or the reason why none was
        tried.
        """
        if not trials.any():
            self._add_unmeasured(name, "share", reason)
            return

        n_hits = hits.sum(axis=CELLS)
        n_trials = trials.sum(axis=CELLS)
        estimate = cluster_share(n_hits, self.groups, self.rng, trials=n_trials)
        self.measurements.append(estimate.measurement(name, "share"))

    def macro(self, name: str, hits: Sequence[Bools], trials: Sequence[Bools]) -> None:
        """Add the mean over kinds of cells of their shares; whole worlds are resampled
        for all kinds together.
        """
        if not hits:
            self._add_unmeasured(name, "share", "the held-out maps have no cells")
            return

        # (worlds, kinds) numbers of cells.
        n_hits = self._sums_by_world(hits)
        n_trials = self._sums_by_world(trials)
        n_worlds = len(n_hits)
        all_hits = n_hits.sum(axis=0)
        all_trials = n_trials.sum(axis=0)

        value = float((all_hits / all_trials).mean())
        interval = None
        if n_worlds > 1:
            # A bootstrap sample is given by how often each world is in it.
            chances = np.full(n_worlds, 1 / n_worlds)
            drawn = self.rng.multinomial(n_worlds, chances, size=RESAMPLES)
            resampled = _mean_ratios(drawn @ n_hits, drawn @ n_trials)
            jackknifed = _mean_ratios(all_hits - n_hits, all_trials - n_trials)
            interval = expanded_bca(value, resampled, jackknifed, n_worlds)

        measurement = Measurement(
            name=name,
            value=value,
            unit="share",
            n=len(self.groups),
            interval=interval,
        )
        self.measurements.append(measurement)

    def _sums_by_world(self, kinds: Sequence[Bools]) -> Doubles:
        """(G, K) number of cells of each kind in each world."""
        worlds = np.unique(self.groups, return_inverse=True)[1]
        sums = []
        for cells in kinds:
            per_turn = cells.sum(axis=CELLS).astype(np.float64)
            per_world = np.bincount(worlds, weights=per_turn)
            sums.append(per_world.astype(np.float64))
        return np.stack(sums, axis=1)

    def ranking(
        self, name: str, probabilities: Floats, of: Bools, others: Bools
    ) -> None:
        """Add the area under the curve (AUC), the mean over turns of each map's own.

        It is the share of pairs of a cell `of` a kind and one of the `others` in which
        the former is the more probable; ties count one half.
        """
        has_both = of.any(axis=CELLS) & others.any(axis=CELLS)
        turns = np.flatnonzero(has_both)
        if not turns.size:
            reason = "no held-out map has both such cells and others within its outermost cells"
            self._add_unmeasured(name, "share", reason)
            return

        shares = []
        for turn in turns:
            on_map = probabilities[turn]
            positives = on_map[of[turn]]
            negatives = on_map[others[turn]]
            shares.append(_pairs_won(positives, negatives))

        estimate = cluster_share(shares, self.groups[turns], self.rng)
        self.measurements.append(estimate.measurement(name, "share"))

    def brier(self, decoded: Floats, cells: Codes, on_map: Bools) -> None:
        """Add "brier", the mean squared error of the probabilities (N, size, size, C)
        of a cell, between 0 and 2.
        """
        # The sum over classes of (p - truth)^2 is sum p^2 + 1 - 2 p[true class], which
        # needs no one-hot maps.
        true_class = cells[..., None]
        of_truth = np.take_along_axis(decoded, true_class, axis=-1)
        squares = (decoded**2).sum(axis=-1)
        error = squares + 1 - 2 * of_truth[..., 0]

        summed = (error * on_map).sum(axis=CELLS)
        n_cells = on_map.sum(axis=CELLS)
        estimate = cluster_mean(summed / n_cells, self.groups, self.rng)
        self.measurements.append(estimate.measurement("brier", "score"))

    def calibration(self, decoded: Floats, cells: Codes, on_map: Bools) -> None:
        """Add "calibration", the expected calibration error of the likeliest class of a
        cell.

        It is the mean gap between confidence, the highest of the probabilities (N,
        size, size, C), and accuracy in bins of confidence. Where the gaps are no larger
        than chance, it is above its value for infinitely many worlds.
        """
        confidence = decoded.max(axis=-1)
        right = decoded.argmax(axis=-1) == cells
        excess = np.where(on_map, confidence - right, 0)

        # A confidence of exactly 1 belongs to the last bin.
        bins = (confidence * BINS).astype(np.intp)
        bins = np.minimum(bins, BINS - 1)
        gaps = np.bincount(bins.ravel(), weights=excess.ravel(), minlength=BINS)

        # With the sign of each bin's gap taken as known, the error is a ratio of sums
        # over worlds, and has the interval of one. Resampled gaps would be too large,
        # for chance only adds to their size.
        signs = np.sign(gaps)[bins]
        signed = (signs * excess).sum(axis=CELLS)
        n_cells = on_map.sum(axis=CELLS)
        estimate = cluster_ratio(signed, n_cells, self.groups, self.rng)

        interval = estimate.interval
        if interval:
            low, high = interval
            interval = (max(0.0, low), high)
        estimate = replace(estimate, interval=interval)
        self.measurements.append(estimate.measurement("calibration", "share"))

    def located(
        self,
        name: str,
        distances: Codes,
        present: Bools,
        size: int,
    ) -> None:
        """Add "top1" and "distance" of a thing over the turns (N,) whose map has it;
        `size` is the largest map's.
        """
        if not present.any():
            reason = f"no {name} cell on the held-out maps"
            self._add_unmeasured(f"top1.{name}", "share", reason)
            self._add_unmeasured(f"distance.{name}", "cells", reason)
            return

        misses = distances[present]
        groups = self.groups[present]
        found = cluster_share(misses == 0, groups, self.rng)
        self.measurements.append(found.measurement(f"top1.{name}", "share"))
        self._distance(f"distance.{name}", misses, groups, size)

    def spread(
        self,
        name: str,
        called: Bools,
        true: Bools,
        size: int,
    ) -> None:
        """Add the mean distance of all cells called so to the true cell, over the turns
        that have both.
        """
        has_both = called.any(axis=CELLS) & true.any(axis=CELLS)
        turns = np.flatnonzero(has_both)
        if not turns.size:
            self._add_unmeasured(
                f"spread.{name}", "cells", f"no cell was decoded as {name}"
            )
            return

        means = []
        for turn in turns:
            means.append(mean_distance(called[turn], true[turn]))
        self._distance(f"spread.{name}", np.array(means), self.groups[turns], size)

    def under(self, prefix: str) -> list[Measurement]:
        """The measurements with a prefix to their names."""
        return [replace(one, name=f"{prefix}.{one.name}") for one in self.measurements]

    def _distance(
        self, name: str, misses: Doubles | Codes, groups: Worlds, size: int
    ) -> None:
        # As a share of the farthest distance it has an interval even where all misses
        # are 0: a few worlds without a miss do not show that there is none.
        across = 2.0 * (size - 1)
        farthest = max(across, float(misses.max()))
        trials = np.full(len(misses), farthest)
        share = cluster_share(misses, groups, self.rng, trials=trials)

        interval = share.interval
        if interval:
            low, high = interval
            interval = (low * farthest, high * farthest)
        measurement = Measurement(
            name=name,
            value=float(np.mean(misses)),
            unit="cells",
            n=len(misses),
            interval=interval,
        )
        self.measurements.append(measurement)

    def _add_unmeasured(self, name: str, unit: str, reason: str) -> None:
        self.measurements.append(unmeasured(name, unit, reason))


def mean_distance(called: Bools, true: Bools) -> float:
    """Mean Manhattan distance of the cells called so (size, size) to the one true
    cell.
    """
    called_cells = np.argwhere(called)
    true_cell = np.argwhere(true)[0]
    distances = np.abs(called_cells - true_cell).sum(axis=1)
    return float(distances.mean())


def _mean_ratios(above: Doubles, below: Doubles) -> Doubles:
    """(R,) mean over kinds of (R, K) ratios; rows that lack a kind are left out."""
    whole = (below > 0).all(axis=1)
    ratios = above[whole] / below[whole]
    means: Doubles = ratios.mean(axis=1)
    return means


def _pairs_won(positives: Floats, negatives: Floats) -> float:
    """The Mann-Whitney statistic as a share of all pairs."""
    n = len(positives)
    ranks = rankdata(np.concatenate([positives, negatives]))
    rank_sum = ranks[:n].sum()
    least = n * (n + 1) / 2
    n_pairs = n * len(negatives)
    return float((rank_sum - least) / n_pairs)
