"""Comparisons of two conditions, paired within clusters or over clusters of their own.

The unit is the cluster: values are averaged within each cluster first, and every
cluster has the same weight. All tests are two-sided.
"""

from dataclasses import dataclass
from math import hypot

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gde.data.arrays import Doubles
from gde.numerics.stats._drawing import (
    at_once,
    flipped,
    resampled,
)
from gde.numerics.stats._estimates import (
    CONFIDENCE,
    MINIMUM_CLUSTERS,
    RESAMPLES,
    Estimate,
    Interval,
    cluster_ratio,
    cluster_sums,
    expanded_percentile,
)
from gde.numerics.stats._finding import Finding
from gde.numerics.stats._power import minimum_detectable_of

PERMUTATIONS = 9999
SCIPYS = 2**23
"""Most signs that SciPy draws, one by one."""
PUBLISHED_PAIRS = 10
PUBLISHED_DIFFERENT = 5
"""Fewest pairs, and pairs that differ, for which the code of Arghal et al. (2026) gives
an effect size.
"""
DIGITS = 12
"""Decimals, relative to the largest value, to which differences are compared: 0.3 - 0.2
must tie with 0.1.
"""
ENUMERATED = 13
"""Most clusters that differ for which all signs of tied ranks are enumerated."""
MOST_DECIMALS = 300
"""Most decimals that `numpy.round` takes without overflow."""


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference a - b over clusters, with its tests and effect sizes."""

    estimate: Estimate
    """The mean over clusters; its interval is None where the differences do not vary,
    and with fewer than `MINIMUM_CLUSTERS`.
    """
    n_different: int
    """Clusters in which a and b differ."""
    permutation: Finding
    """Sign-flip test; its value is the difference."""
    signed_rank: Finding
    """Wilcoxon's test; its value is the smaller rank sum."""
    rank_biserial: Finding
    """Matched-pairs rank-biserial correlation, from -1 (a is always smaller) to 1."""
    effect_paper: Finding
    """The effect size of Arghal et al. (2026), table 3."""
    mde: Finding
    """Smallest difference found with a power of 80 %, at the observed spread."""

    @property
    def p_value(self) -> float | None:
        """The p value of the permutation test."""
        return self.permutation.p_value


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Difference:
    """The mean of a - b over clusters; row i of a (N,) and of b (N,) belongs to
    `clusters[i]`.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    differences = cluster_differences(a, b, clusters)
    means_a = cluster_means(a, clusters)
    means_b = cluster_means(b, clusters)
    hits = _are_hits(means_a, means_b)
    return Difference(
        estimate=_mean(differences, len(np.asarray(a)), rng, hits),
        n_different=int(np.count_nonzero(differences)),
        permutation=sign_flip(differences, rng, permutations),
        signed_rank=signed_rank(differences),
        rank_biserial=rank_biserial(differences),
        effect_paper=effect_paper(differences),
        mde=minimum_detectable_of(differences),
    )


def unpaired_difference(
    a: ArrayLike,
    clusters_a: ArrayLike,
    b: ArrayLike,
    clusters_b: ArrayLike,
    rng: np.random.Generator,
) -> Estimate:
    """The mean of a (N,) over its clusters minus that of b (M,) over its own, as
    independent groups.

    A cluster in both groups makes the interval conservative, as far as it affects both
    alike. The interval joins the intervals of both means ("square and add":
    Newcombe 1998, Zou and Donner 2008). These are bootstrap intervals, or Wilson's
    score intervals (1927) where every cluster is a hit or a miss.

    Raises:
        ValueError: as `paired_difference`.
    """
    first = cluster_means(a, clusters_a)
    second = cluster_means(b, clusters_b)
    varies = np.ptp(first) or np.ptp(second)
    if _are_hits(first, second) and varies:
        mean_a = _share(first)
        mean_b = _share(second)
    else:
        # The interval of a side of equal values has no width, and the other's counts.
        mean_a, mean_b = (
            cluster_ratio(side, np.ones(len(side)), np.arange(len(side)), rng)
            for side in (first, second)
        )
    return _joined(mean_a, mean_b)


def cluster_differences(a: ArrayLike, b: ArrayLike, clusters: ArrayLike) -> Doubles:
    """(G,) a - b averaged within each cluster, clusters sorted, without the noise of
    rounding.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    first = np.asarray(a, dtype=np.float64)
    second = np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(
            f"both sides of a difference must be equally long, got {first.shape} and {second.shape}"
        )

    ones = np.ones(first.shape)
    sums, counts = cluster_sums(first - second, ones, clusters)
    largest = max(np.abs(first).max(), np.abs(second).max())
    return rounded(sums / counts, largest)


def rounded(values: Doubles, largest: float) -> Doubles:
    """Round values so that those become equal that differ only by floating-point error.

    Args:
        values: of any shape.
        largest: the largest magnitude of the numbers that the values were computed
            from.
    """
    decimals = DIGITS
    if largest > 0:
        decimals -= int(np.ceil(np.log10(largest)))
    return np.round(values, min(decimals, MOST_DECIMALS))


def cluster_means(values: ArrayLike, clusters: ArrayLike) -> Doubles:
    """(G,) values averaged within each cluster, clusters sorted.

    Raises:
        ValueError: as `cluster_differences`.
    """
    zeros = np.zeros(np.shape(values))
    return cluster_differences(values, zeros, clusters)


def sign_flip(
    differences: Doubles, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Finding:
    """Test the hypothesis that exchanging a and b within a cluster changes nothing;
    differences (G,).

    The p value is exact where there are at most `permutations` flips, otherwise it
    comes from that many random flips.
    """
    few = _too_few(differences)
    if few:
        return few
    mean = float(differences.mean())
    p_value = _flipped(differences, rng, permutations)
    return Finding(value=mean, p_value=p_value)


def _flipped(
    values: Doubles, rng: np.random.Generator | None, permutations: int
) -> float:
    """The p value of the sum of values (G,) under random signs."""
    if rng is not None and len(values) * permutations > SCIPYS:
        return _of_many(values, rng, permutations)

    def total(flipped: Doubles, rest: Doubles, axis: int) -> Doubles:
        difference: Doubles = (flipped - rest).sum(axis=axis)
        return difference

    # Exchanging a value with zero subtracts it: that is its other sign.
    pairs = (values, np.zeros_like(values))
    test = scipy.stats.permutation_test(
        pairs,
        total,
        permutation_type="samples",
        vectorized=True,
        n_resamples=permutations,
        batch=at_once(len(values)),
        rng=rng,
    )
    return float(test.pvalue)


def _of_many(values: Doubles, rng: np.random.Generator, permutations: int) -> float:
    """SciPy's p value, twice the smaller tail, without a table of all signs."""
    sizes = np.abs(values[values != 0])
    largest = float(sizes.sum())
    drawn = rounded(flipped(sizes, rng, permutations), largest)
    observed = rounded(values.sum(keepdims=True), largest)
    tail = min((drawn <= observed).sum(), (drawn >= observed).sum())
    return min(1.0, 2 * (1 + float(tail)) / (1 + permutations))


def signed_rank(differences: Doubles) -> Finding:
    """Wilcoxon's signed-rank test; differences (G,).

    Zeros are left out (Wilcoxon 1945), and ties share their mean rank. The test is
    exact up to 50 clusters that differ without ties, and up to 13 with ties. Beyond, it
    is the normal approximation with its variance corrected for ties.
    """
    few = _too_few(differences)
    if few:
        return few

    signed = _signed_ranks(differences)
    positive = signed[signed > 0].sum()
    negative = -signed[signed < 0].sum()
    smaller = float(min(positive, negative))

    # SciPy's exact distribution assumes that there are no ties, and it takes 40 times
    # as long to enumerate the signs of ranks that are tied.
    n = len(signed)
    tied = len(np.unique(np.abs(signed))) < n
    if tied and n <= ENUMERATED:
        p_value = _flipped(signed, None, 2**ENUMERATED)
    else:
        p_value = float(scipy.stats.wilcoxon(differences[differences != 0]).pvalue)
    return Finding(value=smaller, p_value=p_value)


def rank_biserial(differences: Doubles) -> Finding:
    """(positive - negative rank sum) / (total rank sum) of differences (G,) (Kerby
    2014).
    """
    if not differences.any():
        return Finding.missing(f"0 of {len(differences)} pairs differ", "1")
    return Finding(value=_correlation(differences))


def effect_paper(differences: Doubles) -> Finding:
    """1 - 2 W / (n (n + 1) / 2), as in table 3 of Arghal et al. (2026); differences
    (G,).

    W is the smaller of the rank sums, so this is the size of the rank-biserial
    correlation without its sign.
    """
    n = len(differences)
    different = int(np.count_nonzero(differences))
    if n < PUBLISHED_PAIRS or different < PUBLISHED_DIFFERENT:
        got = f"{different} of {n} pairs differ"
        return Finding.missing(got, f"{PUBLISHED_DIFFERENT} of {PUBLISHED_PAIRS}")
    return Finding(value=abs(_correlation(differences)))


def _correlation(differences: Doubles) -> float:
    signed = _signed_ranks(differences)
    return float(signed.sum() / np.abs(signed).sum())


def _signed_ranks(differences: Doubles) -> Doubles:
    """The ranks of the differences that are not zero, with the signs of these."""
    different = differences[differences != 0]
    signed: Doubles = np.sign(different) * scipy.stats.rankdata(np.abs(different))
    return signed


def _too_few(differences: Doubles) -> Finding | None:
    different = int(np.count_nonzero(differences))
    if different >= MINIMUM_CLUSTERS:
        return None
    got = f"{different} of {len(differences)} pairs differ"
    if len(differences) < MINIMUM_CLUSTERS:
        got = f"{len(differences)} pairs"
    return Finding.missing(got, str(MINIMUM_CLUSTERS))


def _are_hits(a: Doubles, b: Doubles) -> bool:
    """Whether every cluster has the value 0 or 1, such as success in one episode."""
    values = np.concatenate((a, b))
    return bool(np.isin(values, (0.0, 1.0)).all())


def _mean(
    differences: Doubles, n: int, rng: np.random.Generator, hits: bool
) -> Estimate:
    """The mean of paired differences (G,) with its interval."""
    G = len(differences)
    has_interval = bool(np.ptp(differences)) and G >= MINIMUM_CLUSTERS
    interval = None
    if has_interval and hits:
        interval = _adjusted_wald(differences)
    elif has_interval:
        replicates = resampled(differences, rng, RESAMPLES) / G
        # Under equal conditions differences are symmetric: bias and acceleration would
        # only add noise.
        interval = expanded_percentile(replicates, G)

    return Estimate(
        value=float(differences.mean()),
        interval=interval,
        n=n,
        n_clusters=G,
    )


def _adjusted_wald(differences: Doubles) -> Interval:
    """The interval of the mean of differences (G,), each -1, 0 or 1, after Bonett and
    Price (2012).

    It adds one difference of either sign. Where few pairs differ, the bootstrap covers
    the truth in 80 % instead of 95.
    """
    more = np.append(differences, (1.0, -1.0))
    mean = float(more.mean())
    quantile = scipy.special.ndtri((1 + CONFIDENCE) / 2)
    half = float(quantile * more.std() / np.sqrt(len(more)))

    # No difference of two shares lies beyond these.
    low = max(-1.0, mean - half)
    high = min(1.0, mean + half)
    return low, high


def _share(hits: Doubles) -> Estimate:
    """The share of hits (G,) with Wilson's score interval."""
    G = len(hits)
    interval = None
    if G >= MINIMUM_CLUSTERS:
        test = scipy.stats.binomtest(int(hits.sum()), G)
        low, high = test.proportion_ci(CONFIDENCE, method="wilson")
        interval = (float(low), float(high))
    return Estimate(
        value=float(hits.mean()),
        interval=interval,
        n=G,
        n_clusters=G,
    )


def _joined(a: Estimate, b: Estimate) -> Estimate:
    """a - b, with the squared distances between bounds and means added up."""
    value = a.value - b.value
    interval = None
    if a.interval is not None and b.interval is not None:
        low_a, high_a = a.interval
        low_b, high_b = b.interval
        # A group of equal values has an interval of no width and adds nothing.
        if high_a != low_a or high_b != low_b:
            below = hypot(a.value - low_a, high_b - b.value)
            above = hypot(high_a - a.value, b.value - low_b)
            interval = (value - below, value + above)

    return Estimate(
        value=value,
        interval=interval,
        n=a.n + b.n,
        n_clusters=a.n_clusters + b.n_clusters,
    )
