"""No function gives an interval from fewer than six clusters."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.numerics import stats
from gde.numerics.stats import MINIMUM_CLUSTERS, Interval

Floats = np.ndarray
IntervalOf = Callable[[Floats, Floats, np.random.Generator], Interval | None]


def mean(values: Floats, clusters: Floats, rng: np.random.Generator) -> Interval | None:
    return stats.cluster_mean(values, clusters, rng).interval


def ratio(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    return stats.cluster_ratio(values, values + 1, clusters, rng).interval


def share(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    return stats.cluster_share(values, clusters, rng).interval


def equal_share(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    return stats.cluster_share(np.ones(len(values)), clusters, rng).interval


def paired(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    zeros = np.zeros(len(values))
    return stats.paired_difference(values, zeros, clusters, rng, 1).estimate.interval


def paired_hits(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    hits = (clusters == 0).astype(float)
    return paired(hits, clusters, rng)


def unpaired(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    """Few clusters in one of the groups are enough for no interval."""
    many = np.arange(20)
    others = rng.random(20)
    found = stats.unpaired_difference(values, clusters, others, many, rng)
    swapped = stats.unpaired_difference(others, many, values, clusters, rng)
    assert (found.interval is None) == (swapped.interval is None)
    return found.interval


def unpaired_hits(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    hits = (clusters == 0).astype(float)
    others = np.tile([0.0, 1.0], 10)
    many = np.arange(20)
    return stats.unpaired_difference(hits, clusters, others, many, rng).interval


def any_statistic(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    n_clusters = len(set(clusters))
    return stats.expanded_bca(0.5, rng.random(200), rng.random(n_clusters), n_clusters)


def slope(
    values: Floats, clusters: Floats, rng: np.random.Generator
) -> Interval | None:
    return stats.linear_trend(rng.random(len(values)), values, clusters).interval


EVERY = (
    mean,
    ratio,
    share,
    equal_share,
    paired,
    paired_hits,
    unpaired,
    unpaired_hits,
    any_statistic,
    slope,
)


@pytest.mark.parametrize("interval_of", EVERY)
@given(
    n_clusters=st.integers(1, 8),
    rows=st.integers(1, 30),
    seed=st.integers(0, 2**32 - 1),
)
def test_an_interval_needs_six_clusters_however_many_rows_they_have(
    interval_of: IntervalOf, n_clusters: int, rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(n_clusters), rows)
    values = rng.random(len(clusters))
    interval = interval_of(values, clusters, rng)
    assert (interval is not None) == (n_clusters >= MINIMUM_CLUSTERS)


def test_no_function_with_an_interval_is_left_out() -> None:
    """Whoever adds one adds it to `EVERY`, or to these."""
    tested = {
        "cluster_mean",
        "cluster_ratio",
        "cluster_share",
        "expanded_bca",
        "linear_trend",
        "paired_difference",
        "unpaired_difference",
    }
    found = set()
    for name, each in vars(stats).items():
        returned = getattr(each, "__annotations__", {}).get("return")
        if returned in (stats.Estimate, stats.Difference, Interval | None):
            found.add(name)
    assert found <= tested
