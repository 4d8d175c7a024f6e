"""Estimates with intervals that respect clusters, paired tests, and Holm's correction.

Steps of one world are no independent observations, so whole worlds are resampled. Every estimate here is a ratio of
sums over clusters. Its interval is the bias-corrected and accelerated bootstrap (Efron 1987), read at levels widened
from the normal to Student's t on G - 1 degrees of freedom (Hesterberg 2015, "expanded percentile"), because the plain
bootstrap is too narrow by about sqrt((G - 1) / G) for G clusters. It keeps to the range of the data; the bootstrap-t
does not, and collapses for shares near 0 or 1. Simulated coverage is in `tests/stats`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, permutation_test, t

from gde.data.result import Measurement

Floats = NDArray[np.float64]
Interval = tuple[float, float]
CONFIDENCE = 0.95
RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number and how far to trust it."""

    value: float
    interval: Interval | None
    """None with fewer than two clusters: nothing can be said about other worlds."""
    n: int
    """Observations."""
    n_clusters: int

    def measurement(self, name: str, unit: str) -> Measurement:
        """The estimate as a measurement of the run."""
        return Measurement(name=name, value=self.value, unit=unit, n=self.n, interval=self.interval)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The mean of paired differences a - b."""

    estimate: Estimate
    p_value: float
    """Two-sided, of the hypothesis that swapping a and b within a cluster changes nothing."""


def cluster_mean(
    values: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The mean of all values (N,). Equal values give an interval of no width; for shares use `cluster_share`.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    return cluster_ratio(values, np.ones(np.shape(values)), clusters, rng, confidence, resamples)


def cluster_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The ratio of the sum of `numerator` (N,) to the sum of `denominator` (N,), which is nowhere negative.

    Raises:
        ValueError: no rows, unequal lengths, a value that is not finite, or a denominator that sums to zero.
    """
    above, below = _cluster_sums(numerator, denominator, clusters)
    return Estimate(
        value=float(above.sum() / below.sum()),
        interval=_interval(above, below, rng, confidence, resamples),
        n=len(np.asarray(numerator)),
        n_clusters=len(above),
    )


def cluster_share(
    hits: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    trials: ArrayLike | None = None,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Estimate:
    """The share of `hits` (N,) in `trials` (N,), 0 <= hits <= trials; without `trials`, one each.

    A share of exactly 0 or 1 leaves nothing to resample. It gets the Clopper-Pearson interval of as many independent
    trials as there are clusters: 20 worlds without a miss show a share above 0.83, however many steps they hold.

    Raises:
        ValueError: as `cluster_ratio`, or hits outside their trials.
    """
    hits = np.asarray(hits, dtype=np.float64)
    trials = np.ones(hits.shape) if trials is None else np.asarray(trials, dtype=np.float64)
    if hits.shape == trials.shape and ((hits < 0) | (hits > trials)).any():
        raise ValueError("cluster_share: hits must lie between 0 and trials in every row")
    above, below = _cluster_sums(hits, trials, clusters)
    value = float(above.sum() / below.sum())
    if value in {0.0, 1.0}:
        interval = _one_sided(value, int((below > 0).sum()), confidence)
    else:
        interval = _interval(above, below, rng, confidence, resamples)
    return Estimate(value=value, interval=interval, n=len(hits), n_clusters=len(above))


def paired_difference(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike, rng: np.random.Generator, resamples: int = RESAMPLES
) -> Difference:
    """The mean of a - b (N,), with the p value of a test that swaps a and b in whole clusters.

    The test is exact where the clusters allow no more than `resamples` swaps.

    Raises:
        ValueError: as `cluster_mean`.
    """
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    sums, _ = _cluster_sums(differences, np.ones(differences.shape), clusters)
    estimate = cluster_mean(differences, clusters, rng, resamples=resamples)
    return Difference(estimate=estimate, p_value=_swap_test(sums, rng, resamples))


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values in the order given (Holm 1979): rejecting those below alpha keeps the family error at alpha."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return tuple(adjusted.tolist())


def _cluster_sums(numerator: ArrayLike, denominator: ArrayLike, clusters: ArrayLike) -> tuple[Floats, Floats]:
    above, below = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    groups = np.asarray(clusters)
    if not above.shape == below.shape == groups.shape == (len(groups),) or not len(groups):
        shapes = above.shape, below.shape, groups.shape
        raise ValueError(f"values and clusters must be equally long, one-dimensional and not empty, got {shapes}")
    if not (np.isfinite(above).all() and np.isfinite(below).all()):
        raise ValueError("values must be finite; leave out what was not measured and say so")
    if below.min() < 0 or below.sum() == 0:
        raise ValueError("a ratio needs a denominator that is nowhere negative and somewhere positive")
    index = np.unique(groups, return_inverse=True)[1]
    return _sums(index, above), _sums(index, below)


def _sums(index: NDArray[np.intp], values: Floats) -> Floats:
    return np.bincount(index, weights=values).astype(np.float64)


def _interval(
    above: Floats, below: Floats, rng: np.random.Generator, confidence: float, resamples: int
) -> Interval | None:
    """Expanded BCa interval of above.sum() / below.sum(), resampling the G entries together."""
    informative = (above != 0) | (below != 0)
    above, below = above[informative], below[informative]
    G = len(above)
    if G < 2:
        return None
    ratio = above.sum() / below.sum()
    if np.allclose(above, ratio * below, rtol=1e-12, atol=0):
        return float(ratio), float(ratio)
    drawn = rng.integers(G, size=(resamples, G), dtype=np.int32)
    tops, bottoms = above[drawn].sum(axis=1), below[drawn].sum(axis=1)
    # A rare class can be absent from a resample; the ratio is then taken over those that hold it.
    ratios = tops[bottoms > 0] / bottoms[bottoms > 0]
    low, high = np.quantile(ratios, _levels(above, below, ratio, ratios, confidence))
    return float(low), float(high)


def _levels(above: Floats, below: Floats, ratio: float, ratios: Floats, confidence: float) -> Floats:
    """(2,) the quantiles of the bootstrap distribution that bound the interval."""
    G = len(above)
    half_width = np.sqrt(G / (G - 1)) * t.ppf((1 + confidence) / 2, G - 1)
    share_below = ((ratios < ratio).mean() + (ratios <= ratio).mean()) / 2
    bias = norm.ppf(np.clip(share_below, 1 / len(ratios), 1 - 1 / len(ratios)))
    shifted = bias + np.array([-half_width, half_width])
    levels: Floats = norm.cdf(bias + shifted / np.maximum(1 - _acceleration(above, below) * shifted, 1e-3))
    return levels


def _acceleration(above: Floats, below: Floats) -> float:
    """Skewness of the leave-one-cluster-out ratios, divided by six."""
    others = below.sum() - below
    jackknife = (above.sum() - above)[others > 0] / others[others > 0]
    deviations = jackknife.mean() - jackknife
    spread = float((deviations**2).sum()) ** 1.5
    return float((deviations**3).sum()) / (6 * spread) if spread > 0 else 0.0


def _one_sided(value: float, n_clusters: int, confidence: float) -> Interval | None:
    """Clopper-Pearson at the edge: value 1 (or 0) seen in all of `n_clusters` trials."""
    if n_clusters < 2:
        return None
    bound = float(((1 - confidence) / 2) ** (1 / n_clusters))
    return (bound, 1.0) if value == 1.0 else (0.0, 1 - bound)


def _swap_test(sums: Floats, rng: np.random.Generator, resamples: int) -> float:
    """P value of sign flips of the cluster sums; 1 with a single cluster, whose two flips cannot differ in size."""
    if len(sums) < 2:
        return 1.0

    def total(flipped: Floats, rest: Floats, axis: int) -> Floats:
        difference: Floats = (flipped - rest).sum(axis=axis)
        return difference

    pairs = sums, np.zeros_like(sums)
    options = {"permutation_type": "samples", "vectorized": True, "n_resamples": resamples}
    return float(permutation_test(pairs, total, random_state=rng, **options).pvalue)
