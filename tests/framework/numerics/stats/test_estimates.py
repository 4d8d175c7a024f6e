"""Estimates respect clusters and refuse what they cannot answer."""

import numpy as np
import pytest
from scipy.stats import binomtest

from gde.numerics.stats import Estimate, cluster_mean, cluster_ratio, cluster_share


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def bounds(estimate: Estimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval


def test_ignoring_clusters_would_be_too_narrow() -> None:
    source = rng(1)
    worlds = np.repeat(np.arange(30), 20)
    values = np.repeat(source.normal(size=30), 20) + 0.1 * source.normal(size=600)
    by_world = bounds(cluster_mean(values, worlds, rng()))
    by_step = bounds(cluster_mean(values, np.arange(600), rng()))
    assert by_world[1] - by_world[0] > 3 * (by_step[1] - by_step[0])


def test_a_mean_is_the_ratio_to_ones_and_counts_rows_and_clusters() -> None:
    values, worlds = [1.0, 2.0, 6.0, 7.0], ["a", "a", "b", "c"]
    mean = cluster_mean(values, worlds, rng())
    assert mean == cluster_ratio(values, np.ones(4), worlds, rng())
    assert (mean.value, mean.n, mean.n_clusters) == (4.0, 4, 3)


def test_the_same_rng_gives_the_same_interval_whatever_the_order_of_rows() -> None:
    values, worlds = rng(3).normal(size=60), rng(4).integers(0, 12, 60)
    order = rng(5).permutation(60)
    shuffled = cluster_mean(values[order], worlds[order], rng())
    assert bounds(shuffled) == pytest.approx(
        bounds(cluster_mean(values, worlds, rng()))
    )


def test_equal_values_leave_a_mean_no_width_and_one_cluster_no_interval() -> None:
    assert bounds(
        cluster_mean([0.1] * 9, [0, 0, 1, 1, 2, 3, 4, 5, 6], rng())
    ) == pytest.approx((0.1, 0.1))
    assert cluster_mean([1.0, 2.0], ["only", "only"], rng()).interval is None
    assert cluster_share([1.0, 1.0], ["only", "only"], rng()).interval is None


@pytest.mark.parametrize("hit", [0.0, 1.0])
def test_a_share_at_the_edge_keeps_the_doubt_of_as_many_trials_as_clusters(
    hit: float,
) -> None:
    low, high = bounds(cluster_share([hit] * 200, np.repeat(np.arange(20), 10), rng()))
    assert (low, high) == pytest.approx(
        (0.025**0.05, 1.0) if hit else (0.0, 1 - 0.025**0.05)
    )


def test_intervals_of_shares_stay_between_nought_and_one() -> None:
    hits = np.ones(40)
    hits[7] = 0
    low, high = bounds(cluster_share(hits, np.arange(40), rng()))
    assert 0 < low < 39 / 40 < high <= 1


@pytest.mark.parametrize("rare", [0.0, 1.0])
@pytest.mark.parametrize("each", [1, 3])
def test_no_bound_of_a_share_denies_what_was_seen(rare: float, each: int) -> None:
    hits = np.full(60 * each, 1 - rare)
    hits[[0, -1]] = rare
    low, high = bounds(cluster_share(hits, np.repeat(np.arange(60), each), rng()))
    assert 0 < low < hits.mean() < high < 1


def test_where_clusters_are_single_trials_a_bound_near_the_edge_is_that_of_clopper_and_pearson() -> (
    None
):
    hits = np.array([0.0] * 2 + [1.0] * 58)
    high = bounds(cluster_share(hits, np.arange(60), rng()))[1]
    assert high == pytest.approx(binomtest(58, 60).proportion_ci().high, abs=2e-4)


def test_trials_weigh_the_rows() -> None:
    share = cluster_share([1, 9], ["a", "b"], rng(), trials=[1, 19])
    assert share.value == 0.5


def test_a_rare_class_absent_from_most_resamples_still_has_an_interval() -> None:
    trials = np.array([1.0, 1.0] + [0.0] * 10)
    low, high = bounds(
        cluster_share(np.eye(12)[0], np.arange(12), rng(), trials=trials)
    )
    assert 0 <= low <= 0.5 <= high <= 1


def test_more_confidence_is_wider() -> None:
    values = rng(6).normal(size=50)
    narrow = bounds(cluster_mean(values, np.arange(50), rng(), confidence=0.8))
    wide = bounds(cluster_mean(values, np.arange(50), rng(), confidence=0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(
    ("values", "clusters", "message"),
    [
        ([], [], "not empty"),
        ([1.0, 2.0], ["a"], "equally long"),
        ([1.0, np.nan], ["a", "b"], "must be finite"),
    ],
)
def test_what_cannot_be_averaged_is_refused(
    values: list[float], clusters: list[str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        cluster_mean(values, clusters, rng())


def test_ratios_need_denominators_and_shares_need_trials() -> None:
    with pytest.raises(ValueError, match="somewhere positive"):
        cluster_ratio([1.0, 2.0], [0.0, 0.0], ["a", "b"], rng())
    with pytest.raises(ValueError, match="between 0 and trials"):
        cluster_share([2.0], ["a"], rng())


def test_an_estimate_becomes_a_measurement() -> None:
    measurement = cluster_share([1, 0, 1], ["a", "b", "c"], rng()).measurement(
        "success", "share"
    )
    assert (measurement.name, measurement.unit, measurement.n) == (
        "success",
        "share",
        3,
    )
    assert measurement.value == pytest.approx(2 / 3)


def test_clusters_without_observations_say_nothing_of_the_spread() -> None:
    rng = np.random.default_rng(0)
    assert (
        cluster_ratio([0, 0, 3, 0], [0, 0, 5, 0], ["a", "b", "c", "d"], rng).interval
        is None
    )


def test_a_share_that_is_the_same_everywhere_has_the_interval_of_as_many_trials_as_clusters() -> (
    None
):
    low, high = bounds(cluster_share([1, 0] * 6, np.repeat(range(6), 2), rng()))
    exact = binomtest(3, 6).proportion_ci()
    assert (low, high) == pytest.approx((exact.low, exact.high))
    halves = bounds(cluster_share([1, 0] * 5, np.repeat(range(5), 2), rng()))
    assert halves == pytest.approx((1 - halves[1], 1 - halves[0]))
