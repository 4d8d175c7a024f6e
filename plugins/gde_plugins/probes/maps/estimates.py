"""Measurements of decoded maps that share their clusters and their randomness."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import RESAMPLES, cluster_mean, cluster_ratio, cluster_share, expanded_bca

Bools = NDArray[np.bool_]
BINS = 10
"""Of confidence, equally wide."""


@dataclass
class Scores:
    """Collects measurements; arrays are (N, size, size) unless said otherwise."""

    groups: NDArray[np.str_]
    """(N,) worlds."""
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.measurements: list[Measurement] = []

    def share(self, name: str, hits: Bools, trials: Bools, reason: str) -> None:
        """The share of cells among those tried, or the reason why none was."""
        if not trials.any():
            self._nothing(name, "share", reason)
            return
        tried = trials.sum(axis=(1, 2))
        estimate = cluster_share(hits.sum(axis=(1, 2)), self.groups, self.rng, trials=tried)
        self.measurements.append(estimate.measurement(name, "share"))

    def macro(self, name: str, hits: Sequence[Bools], trials: Sequence[Bools]) -> None:
        """The mean of the shares of several kinds of cells, whole worlds being resampled for all of them together."""
        if not hits:
            self._nothing(name, "share", "the held-out maps have no cells")
            return
        worlds = np.unique(self.groups, return_inverse=True)[1]
        above, below = (_by_world(worlds, each) for each in (hits, trials))
        G = len(above)
        value = float((above.sum(axis=0) / below.sum(axis=0)).mean())
        interval = None
        if G > 1:
            drawn = self.rng.multinomial(G, np.full(G, 1 / G), size=RESAMPLES)
            without = _macro(above.sum(axis=0) - above, below.sum(axis=0) - below)
            interval = expanded_bca(value, _macro(drawn @ above, drawn @ below), without, G)
        self.measurements.append(
            Measurement(name=name, value=value, unit="share", n=len(self.groups), interval=interval)
        )

    def ranking(self, name: str, probabilities: NDArray[np.float32], of: Bools, others: Bools) -> None:
        """The mean over turns of the share of pairs of a cell `of` a kind and one of `others` in which the former is
        the more probable; ties count one half."""
        turns = np.flatnonzero(of.any(axis=(1, 2)) & others.any(axis=(1, 2)))
        if not turns.size:
            self._nothing(name, "share", "no held-out map has both such cells and others within its outermost cells")
            return
        shares = [_pairs_won(probabilities[turn][of[turn]], probabilities[turn][others[turn]]) for turn in turns]
        estimate = cluster_share(shares, self.groups[turns], self.rng)
        self.measurements.append(estimate.measurement(name, "share"))

    def brier(self, decoded: NDArray[np.float32], cells: NDArray[np.int64], on_map: Bools) -> None:
        """ "brier", the mean squared error of the probabilities (N, size, size, C) of a cell, between 0 and 2."""
        error = (decoded**2).sum(axis=-1) + 1 - 2 * np.take_along_axis(decoded, cells[..., None], axis=-1)[..., 0]
        per_turn = (error * on_map).sum(axis=(1, 2)) / on_map.sum(axis=(1, 2))
        self.measurements.append(cluster_mean(per_turn, self.groups, self.rng).measurement("brier", "score"))

    def calibration(self, decoded: NDArray[np.float32], cells: NDArray[np.int64], on_map: Bools) -> None:
        """ "calibration", the mean gap between confidence, the highest of the probabilities (N, size, size, C) of a
        cell, and accuracy in bins of confidence.

        With the sign of each bin's gap taken as known it is a ratio of sums over worlds, and has the interval of one:
        resampled gaps would be larger than the one measured, for chance only adds to their size. Where the gaps are
        no larger than chance, the number lies above that of infinitely many worlds, and its interval with it.
        """
        confidence = decoded.max(axis=-1)
        excess = np.where(on_map, confidence - (decoded.argmax(axis=-1) == cells), 0)
        bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
        gaps = np.bincount(bins.ravel(), weights=excess.ravel(), minlength=BINS)
        signed = (np.sign(gaps)[bins] * excess).sum(axis=(1, 2))
        found = cluster_ratio(signed, on_map.sum(axis=(1, 2)), self.groups, self.rng)
        interval = found.interval and (max(0.0, found.interval[0]), found.interval[1])
        self.measurements.append(replace(found, interval=interval).measurement("calibration", "share"))

    def located(self, name: str, distances: NDArray[np.int64], present: NDArray[np.bool_], size: int) -> None:
        """How often the cell was found and how far it was missed, over the turns (N,) whose map of `size` has it."""
        if not present.any():
            for score, unit in (("top1", "share"), ("distance", "cells")):
                self._nothing(f"{score}.{name}", unit, f"no {name} cell on the held-out maps")
            return
        misses, groups = distances[present], self.groups[present]
        found = cluster_share(misses == 0, groups, self.rng)
        self.measurements.append(found.measurement(f"top1.{name}", "share"))
        self._distance(f"distance.{name}", misses, groups, size)

    def spread(self, name: str, called: Bools, true: Bools, size: int) -> None:
        """The mean distance of all cells called so to the true cell, over the turns that have both."""
        turns = np.flatnonzero(called.any(axis=(1, 2)) & true.any(axis=(1, 2)))
        if not turns.size:
            self._nothing(f"spread.{name}", "cells", f"no cell was decoded as {name}")
            return
        means = np.array([mean_distance(called[turn], true[turn]) for turn in turns])
        self._distance(f"spread.{name}", means, self.groups[turns], size)

    def under(self, prefix: str) -> list[Measurement]:
        """The measurements, their names beginning with the prefix."""
        return [replace(one, name=f"{prefix}.{one.name}") for one in self.measurements]

    def _distance(
        self, name: str, misses: NDArray[np.float64] | NDArray[np.int64], groups: NDArray[np.str_], size: int
    ) -> None:
        """A mean distance, as a share of the farthest on a map of `size`: where all are equal, e.g. 0, its interval is
        that of a share, for a few worlds without a miss do not show that there is none."""
        farthest = max(2.0 * (size - 1), float(misses.max()))
        share = cluster_share(misses, groups, self.rng, trials=np.full(len(misses), farthest))
        interval = share.interval and (share.interval[0] * farthest, share.interval[1] * farthest)
        self.measurements.append(
            Measurement(name=name, value=float(np.mean(misses)), unit="cells", n=len(misses), interval=interval)
        )

    def _nothing(self, name: str, unit: str, reason: str) -> None:
        self.measurements.append(unmeasured(name, unit, reason))


def mean_distance(called: Bools, true: Bools) -> float:
    """Mean over the cells called so (size, size) of rows plus columns to the one true cell."""
    return float(np.abs(np.argwhere(called) - np.argwhere(true)[0]).sum(axis=1).mean())


def _by_world(worlds: NDArray[np.intp], cells: Sequence[Bools]) -> NDArray[np.float64]:
    """(G, K) cells of each kind in each world."""
    sums = [np.bincount(worlds, weights=each.sum(axis=(1, 2)).astype(np.float64)) for each in cells]
    return np.stack(sums, axis=1)


def _macro(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """(R,) mean over kinds of (R, K) ratios; rows that lack a kind are left out."""
    whole = (below > 0).all(axis=1)
    means: NDArray[np.float64] = (above[whole] / below[whole]).mean(axis=1)
    return means


def _pairs_won(mine: NDArray[np.float32], others: NDArray[np.float32]) -> float:
    """The Mann-Whitney statistic as a share of all pairs."""
    ranks = rankdata(np.concatenate([mine, others]))[: len(mine)]
    return float((ranks.sum() - len(mine) * (len(mine) + 1) / 2) / (len(mine) * len(others)))
