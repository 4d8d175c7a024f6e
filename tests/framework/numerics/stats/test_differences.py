"""Tests of differences agree with SciPy, respect clusters, and say why they were not
made.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, t, wilcoxon

from gde.numerics.stats import (
    cluster_differences,
    cluster_mean,
    effect_paper,
    paired_difference,
    rank_biserial,
    sign_flip,
    signed_rank,
    unpaired_difference,
)

TENTHS = st.lists(st.integers(-10, 10), min_size=1, max_size=40)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def paired(differences: list[float]) -> Any:
    return paired_difference(
        differences, np.zeros(len(differences)), np.arange(len(differences)), rng()
    )


def test_the_unit_is_the_cluster() -> None:
    differences = cluster_differences(
        [1.0, 3.0, 5.0, 9.0], [0.0, 1.0, 2.0, 2.0], ["b", "b", "a", "b"]
    )
    assert differences.tolist() == [3.0, pytest.approx(10 / 3)]
    values, others, clusters = rng(1).random(12), rng(2).random(12), np.arange(12)
    few = paired_difference(values, others, clusters, rng())
    many = paired_difference(
        np.repeat(values, 7), np.repeat(others, 7), np.repeat(clusters, 7), rng()
    )
    assert (many.permutation, many.signed_rank) == (few.permutation, few.signed_rank)
    assert many.estimate.interval == few.estimate.interval
    assert (many.estimate.n, few.estimate.n, many.estimate.n_clusters) == (84, 12, 12)


def test_differences_that_are_equal_but_for_rounding_tie() -> None:
    a, b = [0.3, 0.1, 0.7, 1.0], [0.2, 0.0, 0.6, 0.9]
    assert len(set(np.subtract(a, b).tolist())) > 1
    assert len(set(cluster_differences(a, b, range(4)).tolist())) == 1
    assert cluster_differences([0.1 + 0.2, 0.0], [0.3, 0.0], [0, 1]).tolist() == [
        0.0,
        0.0,
    ]
    small = cluster_differences([1e-300, 0.0], [0.0, 0.0], [0, 1])
    assert small[0] == pytest.approx(1e-300, rel=1e-6, abs=0)


@pytest.mark.parametrize("unit", [1e-30, 1e-6, 1.0, 1e6, 1e30])
def test_differences_tie_in_any_unit_and_keep_twelve_digits(unit: float) -> None:
    a, b = np.array([0.3, 0.1, 0.7, 0.123456]), np.array([0.2, 0.0, 0.6, 0.0])
    found = cluster_differences(unit * a, unit * b, range(4))
    assert len(set(found[:3].tolist())) == 1
    assert found[3] == pytest.approx(0.123456 * unit, rel=1e-10, abs=0)


@given(st.permutations(range(1, 61)), st.integers(6, 60), st.integers(0, 2**60))
def test_signed_ranks_without_ties_agree_with_scipy(
    sizes: list[int], n: int, signs: int
) -> None:
    differences = np.array(
        [size if signs >> i & 1 else -size for i, size in enumerate(sizes[:n])],
        dtype=np.float64,
    )
    ours, theirs = signed_rank(differences), wilcoxon(differences)
    assert (ours.value, ours.p_value) == (theirs.statistic, theirs.pvalue)


@given(
    st.lists(st.integers(-3, 3), min_size=14, max_size=40).filter(
        lambda tenths: np.count_nonzero(tenths) > 13
    )
)
def test_many_tied_signed_ranks_agree_with_scipy(tenths: list[int]) -> None:
    different = np.array(tenths)[np.array(tenths) != 0] / 10
    ours, theirs = signed_rank(np.array(tenths) / 10), wilcoxon(different)
    assert ours.value == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


@settings(max_examples=20)
@given(st.lists(st.sampled_from([-3, -2, -1, 1, 2, 3]), min_size=6, max_size=8))
def test_few_tied_signed_ranks_have_the_p_value_of_all_signs(
    differences: list[int],
) -> None:
    ranks = rankdata(np.abs(differences))
    sums = np.array(list(product((-1, 1), repeat=len(ranks)))) @ ranks
    extreme = np.abs(sums) >= abs((np.sign(differences) * ranks).sum()) - 1e-9
    assert signed_rank(
        np.array(differences, dtype=np.float64)
    ).p_value == pytest.approx(extreme.mean())


def test_the_published_effect_size_is_that_of_a_worked_example() -> None:
    # Ranks of |d|: 1 -> 1.5, -1 -> 1.5, 2 -> 3, -3 -> 4, 4 -> 5.5, 4 -> 5.5, 5 -> 7;
    # two zeros and three ties.
    differences = np.array([1.0, -1, 2, -3, 4, 4, 5, 0, 0, 0])
    n, smaller = 7, 1.5 + 4
    assert signed_rank(differences).value == smaller
    assert effect_paper(differences).value == pytest.approx(
        1 - 2 * smaller / (n * (n + 1) / 2)
    )
    assert effect_paper(-differences).value == effect_paper(differences).value
    # Pairs that do not differ have no rank.
    longer = np.append(differences, np.zeros(4))
    assert effect_paper(longer).value == effect_paper(differences).value
    assert (
        effect_paper(differences[:9]).reason
        == "not measured: 7 of 9 pairs differ, needs 5 of 10"
    )


@given(TENTHS.filter(any))
def test_the_rank_biserial_correlation_is_signed_and_bounded(tenths: list[int]) -> None:
    differences = np.array(tenths, dtype=np.float64)
    correlation = rank_biserial(differences).value
    assert correlation is not None
    assert rank_biserial(-differences).value == -correlation
    assert abs(correlation) <= 1
    assert (correlation == 1) == (differences.min() >= 0)
    statistic = wilcoxon(differences[differences != 0], method="asymptotic").statistic
    n = np.count_nonzero(differences)
    assert abs(correlation) == pytest.approx(1 - 2 * statistic / (n * (n + 1) / 2))


def test_sign_flips_of_few_clusters_are_enumerated() -> None:
    assert sign_flip(np.arange(1.0, 8), rng()).p_value == pytest.approx(2 / 2**7)
    assert sign_flip(np.array([1.0, 1, 1, 1, 1, -1]), rng()).p_value == pytest.approx(
        2 * 7 / 2**6
    )


@pytest.mark.parametrize(
    ("differences", "reason"),
    [
        ([0.1] * 4, "not measured: 4 pairs, needs 6"),
        ([0.1] * 5 + [0.0] * 9, "not measured: 5 of 14 pairs differ, needs 6"),
    ],
)
def test_too_few_pairs_are_said_to_be_too_few(
    differences: list[float], reason: str
) -> None:
    found = paired(differences)
    assert found.permutation.reason == found.signed_rank.reason == reason
    assert found.p_value is None


def test_runs_that_are_alike_give_no_false_certainty() -> None:
    found = paired([0.0] * 30)
    assert (found.estimate.value, found.estimate.interval, found.n_different) == (
        0.0,
        None,
        0,
    )
    assert found.rank_biserial.reason == "not measured: 0 of 30 pairs differ, needs 1"
    assert found.mde.reason == "not measured: the values do not vary"
    assert paired([0.5]).mde.reason == "not measured: 1 cluster, needs 2"


def test_findings_become_measurements_or_reasons() -> None:
    found = paired([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    p = found.signed_rank.significance("p", 6)
    assert (p.value, p.n, p.reason) == (pytest.approx(2 / 2**6), 6, "")
    missing = paired([0.1]).signed_rank.significance("p", 1)
    assert (missing.value, missing.reason) == (None, "not measured: 1 pairs, needs 6")


def test_a_difference_of_unpaired_groups_is_that_of_their_clusters_means() -> None:
    a, b = (
        np.repeat([1.0, 3.0, 4.0, 4.5, 3.5, 2.75], [1, 9, 2, 2, 1, 1]),
        np.repeat([0.0, 1.0, 0.5, 2.0, 1.5, 0.5, 1.5], 3),
    )
    sizes = [1, 9, 2, 2, 1, 1]
    found = unpaired_difference(
        a, np.repeat(np.arange(6), sizes), b, np.repeat(np.arange(7), 3), rng()
    )
    assert found.value == pytest.approx(3.125 - 1.0)
    low, high = found.interval or (0, 0)
    assert low < found.value < high
    assert (found.n, found.n_clusters) == (13, 13)


def test_groups_without_spread_leave_an_unpaired_difference_no_interval() -> None:
    alike = unpaired_difference(
        np.ones(9), np.arange(9), np.zeros(9), np.arange(9), rng()
    )
    assert (alike.value, alike.interval) == (1.0, None)
    one = unpaired_difference(np.ones(1), [0], rng(3).random(9), np.arange(9), rng())
    assert one.interval is None


def test_a_group_without_spread_adds_nothing_to_the_interval() -> None:
    varied, level, worlds = rng(1).integers(-9, 9, 9), np.full(9, 2.0), np.arange(9)
    low, high = cluster_mean(varied, worlds, rng()).interval or (0, 0)
    first = unpaired_difference(varied, worlds, level, worlds, rng())
    assert first.interval == pytest.approx((low - 2, high - 2))
    second = unpaired_difference(level, worlds, varied, worlds, rng())
    assert second.interval == pytest.approx((2 - high, 2 - low))


def test_the_interval_of_many_differences_is_near_that_of_the_t_test() -> None:
    """Both meet where differences are normal; the bootstrap strays by some percent."""
    differences = rng(1).normal(size=60)
    found = paired_difference(differences, np.zeros(60), np.arange(60), rng())
    low, high = found.estimate.interval or (0.0, 0.0)
    error = differences.std(ddof=1) / np.sqrt(60)
    assert (low + high) / 2 == pytest.approx(differences.mean(), abs=0.2 * error)
    assert (high - low) / 2 == pytest.approx(t.ppf(0.975, 59) * error, rel=0.08)


def test_the_interval_of_hits_is_that_of_bonett_and_price() -> None:
    """Worked by hand: of 20 worlds 4 are won by the first alone."""
    a = np.repeat([1.0, 0.0], [16, 4])
    found = paired_difference(
        a, np.where(np.arange(20) < 4, 0.0, a), np.arange(20), rng()
    )
    first, second = 5 / 22, 1 / 22
    half = 1.959964 * np.sqrt((first + second - (first - second) ** 2) / 22)
    assert found.estimate.value == pytest.approx(0.2)
    assert found.estimate.interval == pytest.approx(
        (first - second - half, first - second + half), abs=1e-6
    )
    won, worlds = np.array([1.0] * 8 + [0.0]), np.arange(9)
    most = paired_difference(won, np.zeros(9), worlds, rng())
    half = 1.959964 * np.sqrt((10 / 11 - (8 / 11) ** 2) / 11)
    low, high = most.estimate.interval or (0, 0)
    assert (low, high) == (pytest.approx(8 / 11 - half, abs=1e-6), 1.0)
    lost = paired_difference(np.zeros(9), won, worlds, rng())
    assert lost.estimate.interval == (-1.0, pytest.approx(-low))
    one = paired_difference(
        np.ones(6), np.arange(6) > 0, np.arange(6), rng()
    ).estimate.interval or (0, 0)
    assert -1 <= one[0] < 0 < one[1] <= 1


@pytest.mark.parametrize(
    ("first", "second"), [((9, 10), (4, 12)), ((10, 10), (7, 9)), ((0, 8), (1, 30))]
)
def test_the_interval_of_unpaired_hits_is_newcombe_s(
    first: tuple[int, int], second: tuple[int, int]
) -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep

    (hits_a, a), (hits_b, b) = first, second
    groups = [np.arange(n) < hits for hits, n in (first, second)]
    found = unpaired_difference(
        groups[0], np.arange(a), groups[1], np.arange(b), rng()
    ).interval
    assert found == pytest.approx(
        confint_proportions_2indep(hits_a, a, hits_b, b, method="newcomb")
    )


def test_a_world_with_more_than_one_episode_is_no_hit() -> None:
    a, b = np.tile([1.0, 0.0], 8), np.tile([1.0, 1.0], 8)
    b[:4] = 0
    halves = paired_difference(a, b, np.repeat(np.arange(8), 2), rng()).estimate
    assert halves.interval != pytest.approx(
        paired_difference(a, b, np.arange(16), rng()).estimate.interval
    )


def test_the_same_rng_gives_the_same_finding_whatever_the_order_of_rows() -> None:
    a, b, clusters, order = (
        rng(1).random(40),
        rng(2).random(40),
        rng(3).integers(0, 15, 40),
        rng(4).permutation(40),
    )
    assert paired_difference(a, b, clusters, rng()) == paired_difference(
        a[order], b[order], clusters[order], rng()
    )


@pytest.mark.parametrize(
    ("a", "b", "clusters", "message"),
    [
        ([], [], [], "not empty"),
        ([1.0, 2.0], [1.0], ["a", "b"], "equally long"),
        ([1.0, 2.0], [1.0, 0.0], ["a"], "equally long"),
        ([1.0, np.inf], [1.0, 0.0], ["a", "b"], "must be finite"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    a: Any, b: Any, clusters: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        paired_difference(a, b, clusters, rng())


def test_hits_beside_shares_have_no_interval_of_hits() -> None:
    hits = rng(2).integers(2, size=20).astype(float)
    shares = rng(3).random(20)
    clusters = np.arange(20)
    for a, b in ((hits, shares), (shares, hits)):
        found = paired_difference(a, b, clusters, rng(1))
        # That of the same differences, which are no hits on either side.
        nothing = np.zeros(20)
        same = paired_difference(a - b, nothing, clusters, rng(1))
        assert found.estimate.interval is not None
        assert found.estimate.interval == pytest.approx(same.estimate.interval)
