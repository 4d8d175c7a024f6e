"""Measurements of decoded maps with intervals over worlds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import (
    MINIMUM_CLUSTERS,
    RESAMPLES,
    cluster_mean,
    cluster_ratio,
    cluster_share,
    expanded_bca,
)
from gde_plugins.probes.arrays import CELLS, Bools, Codes, Doubles, Floats, Worlds

BINS = 10
"""Number of bins of confidence, equally wide."""


@dataclass
class Scores:
    """Collects measurements that share their worlds and their generator.

    Arrays are (N, size, size) unless noted.
    """

    groups: Worlds
    """(N,)."""
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.measurements: list[Measurement] = []

    def share(self, name: str, hits: Bools, trials: Bools, reason: str) -> None:
        """Add the share of hits among the tried cells, or the reason why none was
        tried.
        """
        if not trials.any():
            self.measurements.append(unmeasured(name, reason))
            return
        n_trials = trials.sum(axis=CELLS)
        self._add_share(name, hits.sum(axis=CELLS), self.groups, n_trials)

    def macro(self, name: str, hits: Sequence[Bools], trials: Sequence[Bools]) -> None:
        """Add the mean over kinds of cells of their shares.

        Whole worlds are resampled for all kinds together.
        """
        if not hits:
            reason = "the held-out maps have no cells"
            self.measurements.append(unmeasured(name, reason))
            return

        n_hits = self._sums_by_world(hits)
        n_trials = self._sums_by_world(trials)
        n_worlds = len(n_hits)
        all_hits = n_hits.sum(axis=0)
        all_trials = n_trials.sum(axis=0)

        value = float((all_hits / all_trials).mean())
        interval = None
        if n_worlds >= MINIMUM_CLUSTERS:
            # A bootstrap sample is given by how often each world is in it.
            chances = np.full(n_worlds, 1 / n_worlds)
            drawn = self.rng.multinomial(n_worlds, chances, size=RESAMPLES)
            resampled = _mean_ratios(drawn @ n_hits, drawn @ n_trials)
            jackknifed = _mean_ratios(all_hits - n_hits, all_trials - n_trials)
            interval = expanded_bca(value, resampled, jackknifed, n_worlds)
        n = len(self.groups)
        self.measurements.append(
            Measurement(
                name=name, value=value, n=n, clusters=n_worlds, interval=interval
            )
        )

    def _sums_by_world(self, kinds: Sequence[Bools]) -> Doubles:
        """(G, K) number of cells of each kind in each world."""
        names, worlds = np.unique(self.groups, return_inverse=True)
        sums = np.zeros((len(names), len(kinds)))
        per_turn = np.stack([cells.sum(axis=CELLS) for cells in kinds], axis=1)
        np.add.at(sums, worlds, per_turn)
        return sums

    def ranking(
        self, name: str, probabilities: Floats, of: Bools, others: Bools
    ) -> None:
        """Add the area under the curve (AUC), averaged over the turns' maps.

        It is the share of pairs of a cell `of` a kind and one of the `others` in which
        the former is the more probable; ties count one half.
        """
        turns = np.flatnonzero(of.any(axis=CELLS) & others.any(axis=CELLS))
        if not turns.size:
            reason = "no held-out map has both such cells and others within its outermost cells"
            self.measurements.append(unmeasured(name, reason))
            return

        shares = []
        for turn in turns:
            on_map = probabilities[turn]
            shares.append(_pairs_won(on_map[of[turn]], on_map[others[turn]]))
        self._add_share(name, shares, self.groups[turns])

    def brier(self, decoded: Floats, cells: Codes, on_map: Bools) -> None:
        """Add "brier", the mean squared error of a cell's probabilities, 0 to 2.

        The probabilities are (N, size, size, C).
        """
        # The sum over classes of (p - truth)^2 is sum p^2 + 1 - 2 p[true class], which
        # needs no one-hot maps.
        of_truth = np.take_along_axis(decoded, cells[..., None], axis=-1)
        error = (decoded**2).sum(axis=-1) + 1 - 2 * of_truth[..., 0]
        mean = (error * on_map).sum(axis=CELLS) / on_map.sum(axis=CELLS)
        estimate = cluster_mean(mean, self.groups, self.rng)
        self.measurements.append(estimate.measurement("brier"))

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
        bins = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
        gaps = np.bincount(bins.ravel(), weights=excess.ravel(), minlength=BINS)

        # With the sign of each bin's gap taken as known, the error is a ratio of sums
        # over worlds, and has the interval of one. Resampled gaps would be too large,
        # for chance only adds to their size.
        signed = (np.sign(gaps)[bins] * excess).sum(axis=CELLS)
        n_cells = on_map.sum(axis=CELLS)
        estimate = cluster_ratio(signed, n_cells, self.groups, self.rng)
        if estimate.interval:
            low, high = estimate.interval
            estimate = replace(estimate, interval=(max(0.0, low), high))
        self.measurements.append(estimate.measurement("calibration"))

    def located(self, name: str, distances: Codes, present: Bools, size: int) -> None:
        """Add "top1" and "distance" of a thing over the turns (N,) whose map has it.

        `size` is the side of the decoded square.
        """
        if not present.any():
            reason = f"no {name} cell on the held-out maps"
            self.measurements += [
                unmeasured(f"top1.{name}", reason),
                unmeasured(f"distance.{name}", reason),
            ]
            return
        misses = distances[present]
        groups = self.groups[present]
        self._add_share(f"top1.{name}", misses == 0, groups)
        self._distance(f"distance.{name}", misses, groups, size)

    def spread(self, name: str, called: Bools, true: Bools, size: int) -> None:
        """Add the mean distance of all cells decoded as a thing to its true cell.

        Only turns that have both count.
        """
        turns = np.flatnonzero(called.any(axis=CELLS) & true.any(axis=CELLS))
        if not turns.size:
            reason = f"no cell was decoded as {name}"
            self.measurements.append(unmeasured(f"spread.{name}", reason))
            return
        means = [mean_distance(called[turn], true[turn]) for turn in turns]
        self._distance(f"spread.{name}", np.array(means), self.groups[turns], size)

    def under(self, prefix: str) -> list[Measurement]:
        """Return the measurements with a prefix to their names."""
        return [replace(one, name=f"{prefix}.{one.name}") for one in self.measurements]

    def _distance(
        self, name: str, misses: Doubles | Codes, groups: Worlds, size: int
    ) -> None:
        # As a share of the farthest distance it has an interval even where all misses
        # are 0: a few worlds without a miss do not show that there is none.
        farthest = max(2.0 * (size - 1), float(misses.max()))
        trials = np.full(len(misses), farthest)
        estimate = cluster_share(misses, groups, self.rng, trials=trials)
        if estimate.interval:
            low, high = estimate.interval
            estimate = replace(estimate, interval=(low * farthest, high * farthest))
        estimate = replace(estimate, value=float(np.mean(misses)))
        self.measurements.append(estimate.measurement(name))

    def _add_share(
        self,
        name: str,
        hits: Any,
        groups: Worlds,
        trials: Codes | None = None,
    ) -> None:
        estimate = cluster_share(hits, groups, self.rng, trials=trials)
        self.measurements.append(estimate.measurement(name))


def mean_distance(called: Bools, true: Bools) -> float:
    """Return the mean Manhattan distance of the decoded cells to the one true cell.

    The cells are (size, size).
    """
    apart = np.argwhere(called) - np.argwhere(true)[0]
    return float(np.abs(apart).sum(axis=1).mean())


def _mean_ratios(above: Doubles, below: Doubles) -> Doubles:
    """(R,) mean over kinds of (R, K) ratios; rows that lack a kind are left out."""
    whole = (below > 0).all(axis=1)
    means: Doubles = (above[whole] / below[whole]).mean(axis=1)
    return means


def _pairs_won(positives: Floats, negatives: Floats) -> float:
    """The Mann-Whitney statistic as a share of all pairs."""
    above = positives[:, None] - negatives
    n_won = (above > 0).sum() + (above == 0).sum() / 2
    return float(n_won / above.size)
