"""Does a condition change anything in any cluster, in whatever direction?

Effects that differ in sign from cluster to cluster cancel in a mean difference: who prefers to go left gains in one
half of the grids what the other half loses. Replicates within clusters show them.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gde.numerics.stats._differences import rounded
from gde.numerics.stats._estimates import Floats, cluster_sums
from gde.numerics.stats._finding import Finding

PERMUTATIONS = 999
MINIMUM_REPLICATED = 2
"""Replicates of each condition that some cluster needs: with one of each, exchanging them changes no square."""


def exchange_replicates(
    values: ArrayLike,
    varied: ArrayLike,
    clusters: ArrayLike,
    rng: np.random.Generator,
    permutations: int = PERMUTATIONS,
) -> Finding:
    """Of the hypothesis that replicates within a cluster do not depend on the condition.

    The statistic is the mean over clusters of the squared difference between the means of the two conditions; random
    permutations exchange replicates within clusters. Clusters without both conditions are left out.

    Args:
        values: (N,) one a replicate; replicates of a cluster are independent of each other, given the cluster.
        varied: (N,) the condition of each.
        clusters: (N,)
        rng: draws the permutations.
        permutations: how many.

    Raises:
        ValueError: no values, unequal lengths, or a value that is not finite.
    """
    condition = np.asarray(varied, dtype=np.float64)
    n_varied, n_all = cluster_sums(condition, np.ones(condition.shape), clusters)
    index = np.unique(np.asarray(clusters), return_inverse=True)[1]
    both = ((n_varied > 0) & (n_varied < n_all))[index]
    cluster_sums(values, np.ones(condition.shape), clusters)  # refuses what has no mean
    observed = np.asarray(values, dtype=np.float64)
    if not (np.minimum(n_varied, n_all - n_varied) >= MINIMUM_REPLICATED).any():
        return Finding.missing("1 replicate of a condition in a cluster", str(MINIMUM_REPLICATED))
    weights = np.where(condition > 0, 1 / n_varied.clip(1)[index], -1 / (n_all - n_varied).clip(1)[index])
    return _permuted(observed[both], weights[both], index[both], rng, permutations)


def _permuted(
    values: Floats, weights: Floats, index: NDArray[np.intp], rng: np.random.Generator, permutations: int
) -> Finding:
    order = np.argsort(index, kind="stable")
    values, weights, index = values[order], weights[order], index[order]
    starts = np.flatnonzero(np.diff(index, prepend=-1))

    def statistic(of: Floats) -> float:
        squares = np.add.reduceat(weights * of, starts) ** 2
        return float(rounded(squares.mean(keepdims=True), float(np.abs(values).max()) ** 2)[0])

    observed = statistic(values)
    # Sorting index + noise below 1 shuffles within clusters and keeps them apart.
    shuffled = (values[np.argsort(index + rng.random(len(index)))] for _ in range(permutations))
    as_large = sum(statistic(each) >= observed for each in shuffled)
    return Finding(value=observed, p_value=(1 + as_large) / (1 + permutations))
