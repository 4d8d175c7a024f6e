"""Two conditions compared: over pairs of the same clusters, or over clusters of their own.

The unit is the cluster: values are averaged within each cluster first, and clusters weigh the same. Every test is
two-sided.
"""

from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binomtest, norm, permutation_test, rankdata, wilcoxon

from gde.numerics.stats._estimates import (
    CONFIDENCE,
    RESAMPLES,
    Estimate,
    Floats,
    Interval,
    cluster_mean,
    cluster_sums,
    expanded_percentile,
)
from gde.numerics.stats._finding import Finding
from gde.numerics.stats._power import minimum_detectable_of

PERMUTATIONS = 9999
BATCH = 1000
"""Permutations held in memory at once."""
MINIMUM = 6
"""Fewest clusters that differ with which a two-sided test of signs or signed ranks can reach p < 0.05 at all
(2 / 2**6 = 0.031). With fewer it can never be significant, so it is not made."""
MINIMUM_UNPAIRED = 4
"""Fewest clusters in each of two groups with which a permutation test can reach p < 0.05 (2 / C(8, 4) = 0.029)."""
PUBLISHED_PAIRS, PUBLISHED_DIFFERENT = 10, 5
"""Pairs, and pairs that differ, below which the released code of Arghal et al. (2026) gives no effect size."""
DIGITS = 12
"""Decimals, relative to the largest value, to which differences are equal: 0.3 - 0.2 is to tie with 0.1."""
ENUMERATED = 13
"""Most clusters that differ for which all signs of tied ranks are tried, which needs no randomness."""
MOST_DECIMALS = 300
"""More overflow."""
UNPAIRED = "not measured: the values are not paired"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What clusters say of the difference a - b."""

    estimate: Estimate
    """The mean over clusters, with its interval; none where the differences do not vary."""
    n_different: int | None
    """Clusters in which a and b differ; None where they are not paired."""
    permutation: Finding
    """Sign-flip test of pairs, or permutation of whole clusters between the groups; its value is the difference."""
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
        """Of the permutation test."""
        return self.permutation.p_value


def paired_difference(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike, rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> Difference:
    """The mean of a - b over clusters, with row i of a (N,) and b (N,) measured in the same `clusters[i]`.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    differences = cluster_differences(a, b, clusters)
    hits = _are_hits(cluster_means(a, clusters), cluster_means(b, clusters))
    return Difference(
        estimate=_mean(differences, len(np.asarray(a)), rng, hits),
        n_different=int(np.count_nonzero(differences)),
        permutation=sign_flip(differences, rng, permutations),
        signed_rank=signed_rank(differences),
        rank_biserial=rank_biserial(differences),
        effect_paper=effect_paper(differences),
        mde=minimum_detectable_of([differences]),
    )


def unpaired_difference(
    a: ArrayLike,
    clusters_a: ArrayLike,
    b: ArrayLike,
    clusters_b: ArrayLike,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Difference:
    """The mean of a (N,) over its clusters less that of b (M,), as if no cluster of a were one of b.

    A cluster in both makes test and interval conservative, so far as it has the same effect on both. The interval
    joins the intervals of both means ("square and add": Newcombe 1998, Zou and Donner 2008): those of the bootstrap,
    or, where every cluster is a hit or a miss, Wilson's (1927).

    Raises:
        ValueError: as `paired_difference`.
    """
    first, second = (cluster_means(*rows) for rows in ((a, clusters_a), (b, clusters_b)))
    hits = _are_hits(first, second) and bool(np.ptp(first) or np.ptp(second))
    means = [_share(group) if hits else cluster_mean(group, np.arange(len(group)), rng) for group in (first, second)]
    return Difference(
        estimate=_joined(*means),
        n_different=None,
        permutation=exchange(first, second, rng, permutations),
        signed_rank=Finding(reason=UNPAIRED),
        rank_biserial=Finding(reason=UNPAIRED),
        effect_paper=Finding(reason=UNPAIRED),
        mde=minimum_detectable_of([first, second]),
    )


def cluster_differences(a: ArrayLike, b: ArrayLike, clusters: ArrayLike) -> Floats:
    """(G,) a - b averaged within each cluster, clusters sorted. Differences that are equal but for rounding are equal.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.shape != second.shape:
        raise ValueError(f"both sides of a difference must be equally long, got {first.shape} and {second.shape}")
    sums, counts = cluster_sums(first - second, np.ones(first.shape), clusters)
    return rounded(sums / counts, max(np.abs(first).max(), np.abs(second).max()))


def rounded(values: Floats, largest: float) -> Floats:
    """Values in which those are equal that differ by rounding alone, coming from numbers no larger than `largest`."""
    decimals = DIGITS - int(np.ceil(np.log10(largest))) if largest > 0 else DIGITS
    return np.round(values, min(decimals, MOST_DECIMALS))


def cluster_means(values: ArrayLike, clusters: ArrayLike) -> Floats:
    """(G,) values averaged within each cluster, clusters sorted.

    Raises:
        ValueError: as `cluster_differences`.
    """
    return cluster_differences(values, np.zeros(np.shape(values)), clusters)


def sign_flip(differences: Floats, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> Finding:
    """Of the hypothesis that exchanging a and b within a cluster changes nothing; differences (G,).

    Exact where the clusters allow no more than `permutations` flips, otherwise on that many drawn at random.
    """
    if few := _too_few(differences):
        return few
    return Finding(value=float(differences.mean()), p_value=_flipped(differences, rng, permutations))


def _flipped(values: Floats, rng: np.random.Generator | None, permutations: int) -> float:
    """P value of the sum of values (G,) when any of their signs may be flipped."""

    def total(flipped: Floats, rest: Floats, axis: int) -> Floats:
        difference: Floats = (flipped - rest).sum(axis=axis)
        return difference

    pairs = values, np.zeros_like(values)
    options = {"permutation_type": "samples", "vectorized": True, "n_resamples": permutations, "batch": BATCH}
    return float(permutation_test(pairs, total, rng=rng, **options).pvalue)


def exchange(a: Floats, b: Floats, rng: np.random.Generator, permutations: int = PERMUTATIONS) -> Finding:
    """Of the hypothesis that it makes no difference to a cluster in which group it is; a (G,) and b (H,)."""
    if min(len(a), len(b)) < MINIMUM_UNPAIRED:
        return Finding.missing(f"{len(a)} and {len(b)} clusters", f"{MINIMUM_UNPAIRED} each")

    def contrast(first: Floats, second: Floats, axis: int) -> Floats:
        difference: Floats = first.mean(axis=axis) - second.mean(axis=axis)
        return difference

    options = {"permutation_type": "independent", "vectorized": True, "n_resamples": permutations, "batch": BATCH}
    test = permutation_test((a, b), contrast, rng=rng, **options)
    return Finding(value=float(test.statistic), p_value=float(test.pvalue))


def signed_rank(differences: Floats) -> Finding:
    """Wilcoxon's signed-rank test; differences (G,).

    Zeros are left out (Wilcoxon 1945) and ties share their mean rank. Exact without ties up to 50 clusters that
    differ, and with ties up to 13; beyond that the normal approximation with its variance corrected for ties.
    """
    if few := _too_few(differences):
        return few
    different = differences[differences != 0]
    signed = np.sign(different) * rankdata(np.abs(different))
    smaller = float(min(signed[signed > 0].sum(), -signed[signed < 0].sum()))
    tied = len(np.unique(np.abs(signed))) < len(signed)
    if tied and len(signed) <= ENUMERATED:
        return Finding(value=smaller, p_value=_flipped(signed, None, 2**ENUMERATED))
    return Finding(value=smaller, p_value=float(wilcoxon(different).pvalue))


def rank_biserial(differences: Floats) -> Finding:
    """Rank sum of positive less that of negative differences, as a share of both (Kerby 2014); differences (G,)."""
    if not differences.any():
        return Finding.missing(f"0 of {len(differences)} pairs differ", "1")
    return Finding(value=_correlation(differences))


def effect_paper(differences: Floats) -> Finding:
    """1 - 2 W / (n (n + 1) / 2), as in table 3 of Arghal et al. (2026); differences (G,).

    W is the smaller of the rank sums, so this is the size of the rank-biserial correlation without its sign.
    """
    n, different = len(differences), int(np.count_nonzero(differences))
    if n < PUBLISHED_PAIRS or different < PUBLISHED_DIFFERENT:
        return Finding.missing(f"{different} of {n} pairs differ", f"{PUBLISHED_DIFFERENT} of {PUBLISHED_PAIRS}")
    return Finding(value=abs(_correlation(differences)))


def _correlation(differences: Floats) -> float:
    different = differences[differences != 0]
    ranks = rankdata(np.abs(different))
    return float((np.sign(different) * ranks).sum() / ranks.sum())


def _too_few(differences: Floats) -> Finding | None:
    different = int(np.count_nonzero(differences))
    if different >= MINIMUM:
        return None
    if len(differences) < MINIMUM:
        return Finding.missing(f"{len(differences)} pairs", str(MINIMUM))
    return Finding.missing(f"{different} of {len(differences)} pairs differ", str(MINIMUM))


def _are_hits(a: Floats, b: Floats) -> bool:
    """Whether nothing but 0 and 1 was measured in any cluster, like success in one episode."""
    return bool(np.isin(np.concatenate((a, b)), (0.0, 1.0)).all())


def _mean(differences: Floats, n: int, rng: np.random.Generator, hits: bool) -> Estimate:
    """Differences of conditions that are alike are symmetric, hence no bias or acceleration in the interval."""
    G, interval = len(differences), None
    if np.ptp(differences) and hits:
        interval = _adjusted_wald(differences)
    elif np.ptp(differences):
        replicates = differences[rng.integers(G, size=(RESAMPLES, G), dtype=np.int32)].mean(axis=1)
        interval = expanded_percentile(replicates, G)
    return Estimate(value=float(differences.mean()), interval=interval, n=n, n_clusters=G)


def _adjusted_wald(differences: Floats) -> Interval:
    """Of hits less hits (G,), each -1, 0 or 1, as if there were one more of either sign (Bonett and Price 2012). Where
    few differ, the bootstrap draws the same few again and again, and covers the truth in 80 % instead of 95."""
    more = np.append(differences, (1.0, -1.0))
    half = float(norm.ppf((1 + CONFIDENCE) / 2) * more.std() / np.sqrt(len(more)))
    return max(-1.0, float(more.mean()) - half), min(1.0, float(more.mean()) + half)


def _share(hits: Floats) -> Estimate:
    """Of hits (G,) with Wilson's score interval."""
    G, interval = len(hits), None
    if G > 1:
        low, high = binomtest(int(hits.sum()), G).proportion_ci(CONFIDENCE, method="wilson")
        interval = float(low), float(high)
    return Estimate(value=float(hits.mean()), interval=interval, n=G, n_clusters=G)


def _joined(a: Estimate, b: Estimate) -> Estimate:
    """a - b: the distances of the bounds from their means add up in squares. A group of equal values adds nothing."""
    value, interval = a.value - b.value, None
    if a.interval is not None and b.interval is not None and (np.ptp(a.interval) or np.ptp(b.interval)):
        below = hypot(a.value - a.interval[0], b.interval[1] - b.value)
        above = hypot(a.interval[1] - a.value, b.value - b.interval[0])
        interval = value - below, value + above
    return Estimate(value=value, interval=interval, n=a.n + b.n, n_clusters=a.n_clusters + b.n_clusters)
