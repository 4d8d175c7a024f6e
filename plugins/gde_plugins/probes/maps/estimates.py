"""Measurements of decoded maps with intervals over worlds, collected one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import RESAMPLES, cluster_mean, cluster_ratio, cluster_share, expanded_bca
from gde_plugins.probes.arrays import Bools, Codes, Doubles, Floats, Worlds

BINS = 10
"""Bins of confidence, equally wide."""


@dataclass
class Scores:
    """Collects measurements that share their worlds and their generator; arrays are (N, size, size) unless noted."""

    groups: Worlds
    """(N,)."""
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.measurements: list[Measurement] = []

    def share(self, name: str, hits: Bools, trials: Bools, reason: str) -> None:
        """Add the share of hits among the cells tried, or the reason why none was tried."""
        if not trials.any():
            self._add_unmeasured(name, "share", reason)
            return
        n_hits = hits.sum(axis=(1, 2))
        n_trials = trials.sum(axis=(1, 2))
        estimate = cluster_share(n_hits, self.groups, self.rng, trials=n_trials)
        self.measurements.append(estimate.measurement(name, "share"))

    def macro(self, name: str, hits: Sequence[Bools], trials: Sequence[Bools]) -> None:
        """Add the mean over kinds of cells of their shares; whole worlds are resampled for all kinds together."""
        if not hits:
            self._add_unmeasured(name, "share", "the held-out maps have no cells")
            return
        worlds = np.unique(self.groups, return_inverse=True)[1]
        n_hits = np.stack([_sum_by_world(worlds, kind) for kind in hits], axis=1)
        n_trials = np.stack([_sum_by_world(worlds, kind) for kind in trials], axis=1)
        n_worlds = len(n_hits)

        value = float((n_hits.sum(axis=0) / n_trials.sum(axis=0)).mean())
        interval = None
        if n_worlds > 1:
            drawn = self.rng.multinomial(n_worlds, np.full(n_worlds, 1 / n_worlds), size=RESAMPLES)
            resampled = _mean_ratios(drawn @ n_hits, drawn @ n_trials)
            jackknifed = _mean_ratios(n_hits.sum(axis=0) - n_hits, n_trials.sum(axis=0) - n_trials)
            interval = expanded_bca(value, resampled, jackknifed, n_worlds)
        measurement = Measurement(name=name, value=value, unit="share", n=len(self.groups), interval=interval)
        self.measurements.append(measurement)

    def ranking(self, name: str, probabilities: Floats, of: Bools, others: Bools) -> None:
        """Add the area under the curve (AUC), the mean over turns of each map's own.

        It is the share of pairs of a cell `of` a kind and one of the `others` in which the former is the more probable;
        ties count one half.
        """
        turns = np.flatnonzero(of.any(axis=(1, 2)) & others.any(axis=(1, 2)))
        if not turns.size:
            reason = "no held-out map has both such cells and others within its outermost cells"
            self._add_unmeasured(name, "share", reason)
            return
        shares = []
        for turn in turns:
            positives = probabilities[turn][of[turn]]
            negatives = probabilities[turn][others[turn]]
            shares.append(_pairs_won(positives, negatives))
        estimate = cluster_share(shares, self.groups[turns], self.rng)
        self.measurements.append(estimate.measurement(name, "share"))

    def brier(self, decoded: Floats, cells: Codes, on_map: Bools) -> None:
        """Add "brier", the mean squared error of the probabilities (N, size, size, C) of a cell, between 0 and 2."""
        of_truth = np.take_along_axis(decoded, cells[..., None], axis=-1)[..., 0]
        error = (decoded**2).sum(axis=-1) + 1 - 2 * of_truth
        per_turn = (error * on_map).sum(axis=(1, 2)) / on_map.sum(axis=(1, 2))
        self.measurements.append(cluster_mean(per_turn, self.groups, self.rng).measurement("brier", "score"))

    def calibration(self, decoded: Floats, cells: Codes, on_map: Bools) -> None:
        """Add "calibration", the expected calibration error of the likeliest class of a cell.

        It is the mean gap between confidence, the highest of the probabilities (N, size, size, C), and accuracy in
        bins of confidence. Where the gaps are no larger than chance, it is above its value for infinitely many worlds.
        """
        confidence = decoded.max(axis=-1)
        right = decoded.argmax(axis=-1) == cells
        excess = np.where(on_map, confidence - right, 0)
        bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
        gaps = np.bincount(bins.ravel(), weights=excess.ravel(), minlength=BINS)

        # With the sign of each bin's gap taken as known, the error is a ratio of sums over worlds, and has the interval
        # of one. Resampled gaps would be too large, for chance only adds to their size.
        signed = (np.sign(gaps)[bins] * excess).sum(axis=(1, 2))
        estimate = cluster_ratio(signed, on_map.sum(axis=(1, 2)), self.groups, self.rng)
        interval = estimate.interval and (max(0.0, estimate.interval[0]), estimate.interval[1])
        self.measurements.append(replace(estimate, interval=interval).measurement("calibration", "share"))

    def located(self, name: str, distances: Codes, present: Bools, size: int) -> None:
        """Add "top1" and "distance" of a thing over the turns (N,) whose map has it; `size` is the largest map's."""
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

    def spread(self, name: str, called: Bools, true: Bools, size: int) -> None:
        """Add the mean distance of all cells called so to the true cell, over the turns that have both."""
        turns = np.flatnonzero(called.any(axis=(1, 2)) & true.any(axis=(1, 2)))
        if not turns.size:
            self._add_unmeasured(f"spread.{name}", "cells", f"no cell was decoded as {name}")
            return
        means = np.array([mean_distance(called[turn], true[turn]) for turn in turns])
        self._distance(f"spread.{name}", means, self.groups[turns], size)

    def under(self, prefix: str) -> list[Measurement]:
        """The measurements with a prefix to their names."""
        return [replace(one, name=f"{prefix}.{one.name}") for one in self.measurements]

    def _distance(self, name: str, misses: Doubles | Codes, groups: Worlds, size: int) -> None:
        # As a share of the farthest distance it has an interval even where all misses are 0: a few worlds without a
        # miss do not show that there is none.
        farthest = max(2.0 * (size - 1), float(misses.max()))
        share = cluster_share(misses, groups, self.rng, trials=np.full(len(misses), farthest))
        interval = share.interval and (share.interval[0] * farthest, share.interval[1] * farthest)
        mean = float(np.mean(misses))
        self.measurements.append(Measurement(name=name, value=mean, unit="cells", n=len(misses), interval=interval))

    def _add_unmeasured(self, name: str, unit: str, reason: str) -> None:
        self.measurements.append(unmeasured(name, unit, reason))


def mean_distance(called: Bools, true: Bools) -> float:
    """Mean Manhattan distance of the cells called so (size, size) to the one true cell."""
    distances = np.abs(np.argwhere(called) - np.argwhere(true)[0]).sum(axis=1)
    return float(distances.mean())


def _sum_by_world(worlds: Codes, cells: Bools) -> Doubles:
    """(G,) number of cells in each world."""
    per_turn = cells.sum(axis=(1, 2)).astype(np.float64)
    sums: Doubles = np.bincount(worlds, weights=per_turn).astype(np.float64)
    return sums


def _mean_ratios(above: Doubles, below: Doubles) -> Doubles:
    """(R,) mean over kinds of (R, K) ratios; rows that lack a kind are left out."""
    whole = (below > 0).all(axis=1)
    means: Doubles = (above[whole] / below[whole]).mean(axis=1)
    return means


def _pairs_won(positives: Floats, negatives: Floats) -> float:
    """The Mann-Whitney statistic as a share of all pairs."""
    n = len(positives)
    ranks = rankdata(np.concatenate([positives, negatives]))[:n]
    return float((ranks.sum() - n * (n + 1) / 2) / (n * len(negatives)))
