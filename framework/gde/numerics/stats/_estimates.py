"""Estimates whose intervals respect clusters.

The steps of one world are not independent, so whole worlds are resampled. Every
estimate is a ratio of sums over clusters. Its interval is the bias-corrected and
accelerated bootstrap, BCa (Efron 1987).

The plain bootstrap is too narrow by about sqrt((G - 1) / G) for G clusters. The levels
of the interval are therefore widened from the normal distribution to Student's t on G -
1 degrees of freedom (Hesterberg 2015, "expanded percentile"). Unlike the bootstrap-t,
the interval stays in the range of the data and does not collapse for shares near 0 or
1. `tests/framework/numerics/stats` simulates its coverage.
"""

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gde.data.arrays import Doubles, Indices
from gde.data.json import Labels
from gde.data.result import Measurement
from gde.numerics.stats._drawing import resampled

Interval = tuple[float, float]
CONFIDENCE = 0.95
RESAMPLES = 2000
MINIMUM_CLUSTERS = 6
"""Fewest clusters for an interval, and for a two-sided test of signs or signed ranks.

With 2 to 5 clusters, 95 % intervals of the bootstrap cover the truth in 55 to 91 %
(docs/statistics.md). From 6 on, the tests can reach p < 0.05 (2 / 2**6 = 0.031).
"""
EQUAL = "all values are equal"
"""Why a mean has no interval."""
TIE = 1e-12
"""Largest relative difference between equal replicates."""
ROUNDING = 1e-9
"""How far beyond 0 and 1 rounding may carry a share."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number with its interval."""

    value: float
    interval: Interval | None
    """None with fewer than `MINIMUM_CLUSTERS`, and for a mean of equal values."""
    n: int
    """Observations."""
    n_clusters: int
    """Clusters with an observation."""

    @property
    def reason(self) -> str:
        """Why there is no interval although clusters suffice; empty otherwise."""
        few = self.n_clusters < MINIMUM_CLUSTERS
        return "" if few or self.interval is not None else EQUAL

    def measurement(self, name: str, where: Labels | None = None) -> Measurement:
        """The estimate as a measurement of the run."""
        return Measurement(
            name=name,
            value=self.value,
            n=self.n,
            clusters=self.n_clusters,
            interval=self.interval,
            where=where or {},
            reason=self.reason,
        )


def cluster_mean(
    values: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
) -> Estimate:
    """The mean of all values (N,), with `clusters` (N,). For shares use
    `cluster_share`.

    Equal values have no interval, since they do not tell how values vary.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    ones = np.ones(np.shape(values))
    mean = cluster_ratio(values, ones, clusters, rng)
    is_flat = np.allclose(values, mean.value, rtol=1e-12, atol=0)
    return replace(mean, interval=None) if is_flat else mean


def cluster_ratio(
    numerator: ArrayLike,
    denominator: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
) -> Estimate:
    """The ratio of the sum of `numerator` (N,) to the sum of `denominator` (N,), which
    is nowhere negative.

    Raises:
        ValueError: no rows, unequal lengths, a value that is not finite, or a
            denominator that sums to zero.
    """
    above, below = _informative(*cluster_sums(numerator, denominator, clusters))
    return Estimate(
        value=float(above.sum() / below.sum()),
        interval=_interval(above, below, rng),
        n=len(np.asarray(numerator)),
        n_clusters=len(above),
    )


def cluster_share(
    hits: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    trials: ArrayLike | None = None,
) -> Estimate:
    """The share of `hits` (N,) in `trials` (N,), 0 <= hits <= trials; one trial each by
    default.

    A share that is equal in all clusters, e.g. 0 or 1, leaves nothing to resample. It
    gets the Clopper-Pearson interval with the number of clusters as the number of
    trials: 20 worlds without a miss show a share above 0.83, whatever their number of
    steps. If hits and misses occur but a bound of the bootstrap is 0 or 1, Korn and
    Graubard (1998) give that bound.

    Raises:
        ValueError: as `cluster_ratio`, or hits outside their trials.
    """
    hits = np.asarray(hits, dtype=np.float64)
    if trials is None:
        trials = np.ones(hits.shape)
    trials = np.asarray(trials, dtype=np.float64)

    # Unequal lengths are left to `cluster_sums`, which says so.
    if hits.shape == trials.shape:
        hits = within_trials(hits, trials)

    above, below = _informative(*cluster_sums(hits, trials, clusters))
    G = len(above)
    value = float(above.sum() / below.sum())
    equal_in_all = np.allclose(above, value * below, rtol=1e-12, atol=0)

    interval = None
    if equal_in_all and G >= MINIMUM_CLUSTERS:
        interval = clopper_pearson(value, G)
    elif not equal_in_all:
        bootstrap = _interval(above, below, rng)
        interval = _within(bootstrap, above, below)
    return Estimate(
        value=value,
        interval=interval,
        n=len(hits),
        n_clusters=G,
    )


def within_trials(hits: Doubles, trials: Doubles) -> Doubles:
    """The hits (N,), without what rounding has added beyond 0 and `trials` (N,).

    Raises:
        ValueError: it is more than rounding.
    """
    within = hits.clip(0, trials)
    if np.abs(hits - within).max(initial=0) > ROUNDING:
        raise ValueError(
            "cluster_share: hits must lie between 0 and trials in every row"
        )
    return within


def cluster_sums(
    numerator: ArrayLike, denominator: ArrayLike, clusters: ArrayLike
) -> tuple[Doubles, Doubles]:
    """Sum both within clusters: (G,) and (G,), clusters in sorted order.

    Raises:
        ValueError: as `cluster_ratio`.
    """
    above = np.asarray(numerator, dtype=np.float64)
    below = np.asarray(denominator, dtype=np.float64)
    groups = np.asarray(clusters)
    shapes = (above.shape, below.shape, groups.shape)
    if set(shapes) != {(groups.size,)} or not groups.size:
        raise ValueError(
            f"values and clusters must be equally long, one-dimensional and not empty, got {shapes}"
        )
    for values in (above, below):
        if not np.isfinite(values).all():
            raise ValueError(
                "values must be finite; leave out what was not measured and say so"
            )
    if below.min() < 0 or below.sum() == 0:
        raise ValueError(
            "a ratio needs a denominator that is nowhere negative and somewhere positive"
        )

    _, index = np.unique(groups, return_inverse=True)
    return _sums(index, above), _sums(index, below)


def _sums(index: Indices, values: Doubles) -> Doubles:
    return np.bincount(index, weights=values).astype(np.float64)


def _informative(above: Doubles, below: Doubles) -> tuple[Doubles, Doubles]:
    """Leave out clusters without observations, which would count as evidence."""
    observed = (above != 0) | (below != 0)
    return above[observed], below[observed]


def _interval(
    above: Doubles,
    below: Doubles,
    rng: np.random.Generator,
) -> Interval | None:
    """Expanded BCa interval of above.sum() / below.sum(), resampling the G entries
    together.
    """
    G = len(above)
    if G < MINIMUM_CLUSTERS:
        return None

    ratio = above.sum() / below.sum()
    if np.allclose(above, ratio * below, rtol=1e-12, atol=0):
        return float(ratio), float(ratio)

    # A rare class can be absent from a resample, which then has no ratio.
    sums = resampled(above + 1j * below, rng, RESAMPLES)
    defined = sums.imag > 0
    ratios = sums.real[defined] / sums.imag[defined]

    above_others = above.sum() - above
    below_others = below.sum() - below
    defined = below_others > 0
    jackknife = above_others[defined] / below_others[defined]
    return expanded_bca(float(ratio), ratios, jackknife, G)


def expanded_bca(
    value: float,
    replicates: Doubles,
    jackknife: Doubles,
    n_clusters: int,
) -> Interval | None:
    """The expanded BCa interval of any statistic of clusters; None with fewer than
    `MINIMUM_CLUSTERS`.

    Args:
        value: the statistic of all clusters.
        replicates: (R,) the statistic of resampled clusters.
        jackknife: (up to G,) the statistic without each cluster, where it is defined.
        n_clusters: their number.
    """
    if n_clusters < MINIMUM_CLUSTERS:
        return None

    # Replicates equal to the value, but for rounding, count half on either side.
    R = len(replicates)
    error = TIE * np.abs(replicates).max()
    less = (replicates < value - error).mean()
    less_or_equal = (replicates <= value + error).mean()
    share_below = (less + less_or_equal) / 2

    # Shares of 0 and 1 would give an infinite bias.
    inside = np.clip(share_below, 1 / R, 1 - 1 / R)
    bias = scipy.special.ndtri(inside)

    half_width = _half_width(n_clusters)
    shifted = bias + np.array([-half_width, half_width])
    # A strong acceleration would turn the denominator negative.
    acceleration = _acceleration(jackknife)
    denominator = np.maximum(1 - acceleration * shifted, 1e-3)
    levels = scipy.special.ndtr(bias + shifted / denominator)
    low, high = np.quantile(replicates, levels)
    return float(low), float(high)


def expanded_percentile(replicates: Doubles, n_clusters: int) -> Interval | None:
    """The interval without bias and acceleration, whose estimates add only noise to a
    symmetric statistic; None with fewer than `MINIMUM_CLUSTERS`.
    """
    if n_clusters < MINIMUM_CLUSTERS:
        return None

    half_width = _half_width(n_clusters)
    levels = scipy.special.ndtr([-half_width, half_width])
    low, high = np.quantile(replicates, levels)
    return float(low), float(high)


def _half_width(n_clusters: int) -> float:
    """Half of the expanded interval, in standard errors: sqrt(G / (G - 1)) t[G - 1]."""
    widening = np.sqrt(n_clusters / (n_clusters - 1))
    level = (1 + CONFIDENCE) / 2
    return float(widening * scipy.special.stdtrit(n_clusters - 1, level))


def _acceleration(jackknife: Doubles) -> float:
    """Skewness of the leave-one-cluster-out values, divided by six."""
    deviations = jackknife.mean() - jackknife
    spread: float = float((deviations**2).sum()) ** 1.5
    if not spread > 0:
        return 0.0
    cubes = float((deviations**3).sum())
    return cubes / (6 * spread)


def _within(
    interval: Interval | None, above: Doubles, below: Doubles
) -> Interval | None:
    """Replace a bound of 0 although hits were seen, or of 1 although misses were
    seen.
    """
    if interval is None:
        return None
    low, high = interval
    if low > 0 and high < 1:
        return interval

    value = float(above.sum() / below.sum())
    trials = _effective_trials(above, below)
    exact_low, exact_high = clopper_pearson(value, trials)
    if low == 0:
        low = exact_low
    if high >= 1:
        high = exact_high
    return low, high


def _effective_trials(above: Doubles, below: Doubles) -> float:
    """The equivalent number of independent trials (Korn and Graubard 1998), with its
    degrees of freedom.
    """
    G = len(below)
    n = below.sum()
    value = above.sum() / n
    residuals = above - value * below
    variance = G / (G - 1) * (residuals**2).sum() / n**2

    # The number of independent trials with this variance, but never more than were
    # made.
    trials = min(n, value * (1 - value) / variance)

    level = (1 + CONFIDENCE) / 2
    t_of_trials = scipy.special.stdtrit(max(n, G) - 1, level)
    t_of_clusters = scipy.special.stdtrit(G - 1, level)
    freedom = t_of_trials / t_of_clusters
    return float(trials * freedom**2)


def clopper_pearson(value: float, trials: float) -> Interval:
    """The exact interval of a share (Clopper-Pearson); trials need not be whole."""
    hits = value * trials
    misses = trials - hits
    tail = (1 - CONFIDENCE) / 2

    # The beta distribution is not defined without hits or without misses.
    low = 0.0
    if value > 0:
        low = float(scipy.special.betaincinv(hits, misses + 1, tail))
    high = 1.0
    if value < 1:
        high = float(scipy.special.betaincinv(hits + 1, misses, 1 - tail))
    return low, high
