"""A test of whether a condition changes anything in any cluster, in whatever direction.

Effects that differ in sign between clusters cancel in a mean difference: an agent that
prefers to go left gains in one half of the grids what it loses in the other. Replicates
within clusters show such effects.
"""

import numpy as np
from numpy.typing import ArrayLike

from gde.data.arrays import Doubles, Indices
from gde.numerics.stats._differences import rounded
from gde.numerics.stats._estimates import cluster_sums
from gde.numerics.stats._finding import Finding

PERMUTATIONS = 999
MINIMUM_REPLICATED = 2
"""Fewest replicates of each condition in some cluster. With one of each, an exchange
changes no square.
"""


def exchange_replicates(
    values: ArrayLike,
    varied: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Finding:
    """Test the hypothesis that replicates within a cluster do not depend on the
    condition.

    The statistic is the mean over clusters of the squared difference between the means
    of the two conditions. Random permutations exchange replicates within clusters, and
    p is (1 + as large) / (1 + permutations). Clusters without both conditions are left
    out.

    Args:
        values: (N,) one for each replicate; replicates of a cluster are independent of
            each other, given the cluster.
        varied: (N,) the condition of each: 0 or 1.
        clusters: (N,) the cluster of each.
        rng: draws the permutations.
        permutations: their number.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    condition = np.asarray(varied, dtype=np.float64)
    ones = np.ones(condition.shape)
    n_varied, n_all = cluster_sums(condition, ones, clusters)
    n_plain = n_all - n_varied

    # Only for its errors: values that have no mean are refused.
    cluster_sums(values, ones, clusters)
    observed = np.asarray(values, dtype=np.float64)

    fewer = np.minimum(n_varied, n_plain)
    if fewer.max() < MINIMUM_REPLICATED:
        return Finding.missing(
            "1 replicate of a condition in a cluster", str(MINIMUM_REPLICATED)
        )

    # Weighted sums within clusters are then differences between the means of the
    # conditions.
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    weight_varied = 1 / n_varied.clip(1)
    weight_plain = -1 / n_plain.clip(1)
    weights = np.where(condition > 0, weight_varied[index], weight_plain[index])

    kept = (fewer > 0)[index]
    return _permuted(
        observed[kept],
        weights[kept],
        index[kept],
        rng,
        permutations,
    )


def _permuted(
    values: Doubles,
    weights: Doubles,
    index: Indices,
    rng: np.random.Generator,
    permutations: int,
) -> Finding:
    # Sums from one start to the next are sums within a cluster.
    order = np.argsort(index, kind="stable")
    values = values[order]
    weights = weights[order]
    index = index[order]
    starts = np.flatnonzero(np.diff(index, prepend=-1))
    largest_square = float(np.abs(values).max()) ** 2

    def statistic(of: Doubles) -> float:
        squares = np.add.reduceat(weights * of, starts) ** 2
        mean = squares.mean(keepdims=True)
        return float(rounded(mean, largest_square)[0])

    observed = statistic(values)
    as_large = 0
    for _ in range(permutations):
        # Sorting the index plus noise below 1 shuffles within clusters and keeps them
        # apart.
        noise = rng.random(len(index))
        shuffled = values[np.argsort(index + noise)]
        as_large += statistic(shuffled) >= observed

    p_value = (1 + as_large) / (1 + permutations)
    return Finding(value=observed, p_value=p_value)
