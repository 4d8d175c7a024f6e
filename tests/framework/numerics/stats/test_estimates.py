"""Estimates respect clusters and refuse what they cannot answer."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta, binomtest, bootstrap, norm, t

from gde.numerics.stats import (
    Estimate,
    _estimates,
    cluster_mean,
    cluster_ratio,
    cluster_share,
    expanded_bca,
)
from gde.numerics.stats._estimates import expanded_percentile


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


def test_equal_values_and_one_cluster_have_no_interval() -> None:
    equal = cluster_mean([0.1] * 9, [0, 0, 1, 1, 2, 3, 4, 5, 6], rng())
    assert equal.value == pytest.approx(0.1)
    assert equal.interval is None
    assert equal.measurement("m").reason == "all values are equal"
    few = cluster_mean([1.0, 2.0], ["only", "only"], rng())
    assert few.interval is None
    assert few.measurement("m").reason == ""
    assert cluster_mean([0.1, 0.2] * 9, range(18), rng()).measurement("m").reason == ""
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


def test_clusters_without_a_trial_do_not_count() -> None:
    trials = np.repeat([1.0, 0.0], 6)
    hits = np.eye(12)[0]
    share = cluster_share(hits, np.arange(12), rng(), trials=trials)
    assert share == replace(cluster_share(hits[:6], np.arange(6), rng()), n=12)
    assert share.interval is not None

    trials[5] = 0
    few = cluster_share(hits, np.arange(12), rng(), trials=trials)
    assert (few.n_clusters, few.interval) == (5, None)


def test_a_denominator_absent_from_many_resamples_still_has_an_interval() -> None:
    below = np.repeat([1.0, 0.0], [2, 8])
    low, high = bounds(cluster_ratio(np.ones(10), below, np.arange(10), rng()))
    assert 0 < low <= 5 <= high


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
    estimate = cluster_share([1, 0, 1], ["a", "b", "c"], rng())
    measurement = estimate.measurement("success", {"size": 5})
    assert (measurement.name, measurement.n) == ("success", 3)
    assert measurement.where == {"size": 5}
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
    halves = bounds(cluster_share([1, 0] * 7, np.repeat(range(7), 2), rng()))
    assert halves == pytest.approx((1 - halves[1], 1 - halves[0]))


def half_width(n_clusters: int) -> float:
    """Half of a 95 % interval in standard errors of the plain bootstrap."""
    n = n_clusters
    return float(t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)))


@pytest.mark.parametrize("n", [6, 12])
def test_the_interval_is_scipys_bca_at_the_levels_of_student_s_t(
    n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Skewed values and unequal denominators: bias and acceleration both count."""
    below = rng(1).integers(1, 9, n).astype(float)
    above = below * rng(2).exponential(size=n)

    def ratio(tops: np.ndarray, bottoms: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(tops.sum(axis=axis) / bottoms.sum(axis=axis))

    monkeypatch.setattr(_estimates, "RESAMPLES", 40_000)
    ours = bounds(cluster_ratio(above, below, range(n), rng()))
    theirs = bootstrap(
        (above, below),
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=40_000,
        confidence_level=2 * norm.cdf(half_width(n)) - 1,
        rng=rng(),
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02 * width)


def test_a_share_that_rounding_carries_beyond_its_range_is_put_back() -> None:
    chances = np.array([1 + 2e-16, 1.0, -1e-17, 0.25] * 3)
    found = cluster_share(chances, range(12), rng())
    assert found == cluster_share(chances.clip(0, 1), range(12), rng())
    low, high = bounds(found)
    assert 0 <= low < high <= 1
    for beyond in (1 + 1e-8, -1e-8):
        with pytest.raises(ValueError, match="between 0 and trials"):
            cluster_share([*chances, beyond], range(13), rng())


def test_replicates_on_one_side_of_the_value_still_give_an_interval() -> None:
    replicates, jackknife = np.linspace(1, 2, 101), rng(1).random(9)
    for value, low_end in ((0.5, True), (2.5, False)):
        low, high = expanded_bca(value, replicates, jackknife, 9)
        assert 1 <= low < high <= 2
        # The bias draws the interval to the value.
        assert (high < 1.5) if low_end else (low > 1.5)


def test_replicates_that_equal_the_value_but_for_rounding_tie_with_it() -> None:
    replicates, jackknife = rng(1).normal(3, 1, 101), rng(1).random(9)
    replicates[:60] = 3.0
    tied = expanded_bca(3.0, replicates, jackknife, 9)
    replicates[:60] = np.nextafter(3.0, 4.0)
    assert expanded_bca(3.0, replicates, jackknife, 9) == pytest.approx(tied)


def test_without_bias_and_skewness_the_interval_is_that_of_percentiles() -> None:
    replicates = norm.ppf((np.arange(2001) + 0.5) / 2001)
    expected = expanded_percentile(replicates, 9)
    low, high = expected
    assert high == pytest.approx(half_width(9), rel=0.02) == -low
    for jackknife in (np.full(9, 0.3), np.linspace(-1, 1, 9)):
        found = expanded_bca(0.0, replicates, jackknife, 9)
        assert found == pytest.approx(expected)


def test_a_bound_that_denies_nothing_is_the_bootstraps() -> None:
    hits = np.array([0.0] * 2 + [1.0] * 58)
    share = bounds(cluster_share(hits, range(60), rng()))
    mean = bounds(cluster_mean(hits, range(60), rng()))
    assert share[0] == mean[0] > 0
    misses = bounds(cluster_share(1 - hits, range(60), rng()))
    assert misses[1] == bounds(cluster_mean(1 - hits, range(60), rng()))[1] < 1


def test_the_bound_of_clustered_trials_is_that_of_korn_and_graubard() -> None:
    """Worked by their formulas: one of twelve worlds misses both of its trials."""
    G, n = 12, 24
    hits = np.ones(n)
    hits[:2] = 0
    share = 22 / 24
    residuals = np.append(0 - 2 * share, np.full(11, 2 - 2 * share))
    variance = G / (G - 1) * (residuals**2).sum() / n**2
    freedom = t.ppf(0.975, n - 1) / t.ppf(0.975, G - 1)
    trials = share * (1 - share) / variance * freedom**2
    found = bounds(cluster_share(hits, np.repeat(range(G), 2), rng()))
    high = beta.ppf(0.975, share * trials + 1, (1 - share) * trials)
    assert found[1] == pytest.approx(high, rel=1e-9)
    low = bounds(cluster_share(1 - hits, np.repeat(range(G), 2), rng()))[0]
    assert low == pytest.approx(1 - high, rel=1e-9)


def test_worlds_more_alike_than_chance_count_as_no_more_trials_than_were_made() -> None:
    """Three of twelve worlds miss one of five trials each."""
    G, n = 12, 60
    hits = np.ones(n)
    hits[[0, 5, 10]] = 0
    share = 57 / 60
    trials = n * (t.ppf(0.975, n - 1) / t.ppf(0.975, G - 1)) ** 2
    high = beta.ppf(0.975, share * trials + 1, (1 - share) * trials)
    found = bounds(cluster_share(hits, np.repeat(range(G), 5), rng()))
    assert found[1] == pytest.approx(high, rel=1e-9)
