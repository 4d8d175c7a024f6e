"""Tests of whether a quantity rises or falls with another, two-sided and clustered."""

import numpy as np
import scipy
from numpy.typing import ArrayLike

from gde.data.arrays import Doubles
from gde.numerics.stats._differences import PERMUTATIONS, cluster_means, rounded
from gde.numerics.stats._drawing import at_once
from gde.numerics.stats._estimates import CONFIDENCE, MINIMUM_CLUSTERS, cluster_sums
from gde.numerics.stats._finding import Finding

MINIMUM_RANKED = 5
"""Fewest clusters with which a permutation of ranks can reach p < 0.05 (2 / 5! =
0.017).
"""
MINIMUM_BLOCKS = 3
MINIMUM_CONDITIONS = 3
"""Fewest blocks and conditions with which Page's test can reach p < 0.05, two-sided (2
/ 3!**3 = 0.009).
"""


def spearman(
    x: ArrayLike,
    y: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Finding:
    """Spearman's rank correlation of x (N,) and y (N,), both averaged within clusters
    first.

    The p value comes from permutations of whole clusters: all of them where there are
    at most `permutations`, otherwise that many drawn at random.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    ranks_x = scipy.stats.rankdata(cluster_means(x, clusters))
    ranks_y = scipy.stats.rankdata(cluster_means(y, clusters))
    if len(ranks_x) < MINIMUM_RANKED:
        return Finding.missing(f"{len(ranks_x)} clusters", str(MINIMUM_RANKED))
    if not np.ptp(ranks_x) or not np.ptp(ranks_y):
        return Finding(reason="not measured: the values do not vary")

    # The correlation of two centred vectors of length one is the sum of their products.
    first = _normalised(ranks_x)
    second = _normalised(ranks_y)

    def correlation(permuted: Doubles, axis: int) -> Doubles:
        products: Doubles = (permuted * second).sum(axis=axis)
        return products

    test = scipy.stats.permutation_test(
        (first,),
        correlation,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=permutations,
        batch=at_once(len(first)),
        rng=rng,
    )
    # Rounding can carry a perfect correlation beyond one.
    value = np.clip(test.statistic, -1, 1)
    return Finding(value=float(value), p_value=float(test.pvalue))


def _normalised(values: Doubles) -> Doubles:
    """Centred, and scaled to length one."""
    centred: Doubles = values - values.mean()
    normalised: Doubles = centred / np.linalg.norm(centred)
    return normalised


def page(table: ArrayLike) -> Finding:
    """Page's L of a table (blocks, conditions): a trend from the first condition to the
    last.

    L is that of a rise. SciPy's test is one-sided, so the smaller p value of both
    directions is doubled. SciPy chooses between the exact and the normal distribution
    by the size of the table; ties in a block make either conservative.

    Raises:
        ValueError: the table has not two axes, or a value that is not finite.
    """
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError(
            f"wanted a finite table of blocks by conditions, got shape {values.shape}"
        )

    blocks, conditions = values.shape
    if blocks < MINIMUM_BLOCKS or conditions < MINIMUM_CONDITIONS:
        got = f"{blocks} blocks of {conditions} conditions"
        return Finding.missing(got, f"{MINIMUM_BLOCKS} of {MINIMUM_CONDITIONS}")
    if not np.ptp(values, axis=1).any():
        return Finding(reason="not measured: the values do not vary")

    # Values that differ by floating-point error alone must tie.
    largest = float(np.abs(values).max())
    values = rounded(values, largest)

    # A fall is a rise of the reversed conditions.
    rise = scipy.stats.page_trend_test(values)
    fall = scipy.stats.page_trend_test(values[:, ::-1])
    smaller = min(rise.pvalue, fall.pvalue)
    p_value = min(1.0, 2 * smaller)
    return Finding(value=float(rise.statistic), p_value=float(p_value))


def linear_trend(x: ArrayLike, y: ArrayLike, clusters: ArrayLike) -> Finding:
    """The slope of the least-squares line of y (N,) on x (N,), rows of equal weight.

    The standard error is the jackknife over clusters: CV3 of MacKinnon et al. (2023),
    without the factor (G - 1) / G, as in HC3. Test and interval use Student's t on G -
    1 degrees of freedom. The usual robust error (Liang and Zeger
    1986) is too small where clusters are few or differ in size.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    x = np.asarray(x, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    sums = _moments(x, y, clusters)
    G = len(sums)
    if G < MINIMUM_CLUSTERS:
        return Finding.missing(f"{G} clusters", str(MINIMUM_CLUSTERS))

    # If only one cluster varies in x, the line without it has no slope.
    total = sums.sum(axis=0)
    without_one = total - sums
    spread_of_all = sums[:, 3].sum()
    vanishes = np.isclose(_spread(without_one), 0, atol=1e-9 * spread_of_all)
    if vanishes.any():
        return Finding(reason="not measured: the values vary in less than two clusters")

    slope = float(_slope(total))
    deviations = _slope(without_one) - slope
    error = float(np.sqrt((deviations**2).sum()))

    level = (1 + CONFIDENCE) / 2
    half_width = float(scipy.stats.t.ppf(level, G - 1)) * error
    interval = (slope - half_width, slope + half_width)

    # Without an error, any slope but zero is certain.
    p_value = float(slope == 0)
    if error > 0:
        p_value = float(2 * scipy.stats.t.sf(abs(slope) / error, G - 1))
    return Finding(value=slope, p_value=p_value, interval=interval)


def _moments(x: Doubles, y: Doubles, clusters: ArrayLike) -> Doubles:
    """(G, 5) sums within clusters of 1, x, y, x * x and x * y, with both centred."""
    ones = np.ones(x.shape)
    # Only for its errors: values that have no mean are refused.
    for values in (x, y):
        cluster_sums(values, ones, clusters)

    # Sums of large squares would lose the digits in which they differ.
    x = x - x.mean()
    y = y - y.mean()
    moments = []
    for values in (ones, x, y, x * x, x * y):
        sums, _ = cluster_sums(values, ones, clusters)
        moments.append(sums)
    return np.stack(moments, axis=1)


def _spread(sums: Doubles) -> Doubles:
    """Sum of squares of x about its mean, from (..., 5) moments."""
    n = sums[..., 0]
    x = sums[..., 1]
    xx = sums[..., 3]
    spread: Doubles = xx - x**2 / n
    return spread


def _slope(sums: Doubles) -> Doubles:
    """Of the least-squares line, from (..., 5) moments."""
    n = sums[..., 0]
    x = sums[..., 1]
    y = sums[..., 2]
    xy = sums[..., 4]
    products: Doubles = xy - x * y / n
    slope: Doubles = products / _spread(sums)
    return slope
