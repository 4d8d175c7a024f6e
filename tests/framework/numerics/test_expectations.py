"""A share against what chance gives: exact, whatever the worlds and however rare success."""

import numpy as np
import pytest
from scipy.stats import binomtest

from gde.numerics.expectations import compare_with_expected


def test_of_alike_worlds_it_is_the_exact_binomial_test() -> None:
    ours = np.repeat([1.0, 0.0], [9, 3])
    found = compare_with_expected("chance", ours, np.full(12, 0.3))
    one_sided = binomtest(9, 12, 0.3, alternative="greater")
    assert found.p == pytest.approx(2 * one_sided.pvalue)
    ends = binomtest(9, 12).proportion_ci()
    assert found.interval == pytest.approx((ends.low - 0.3, ends.high - 0.3))
    assert found.difference == pytest.approx(0.45)


@pytest.mark.parametrize("n_worlds", [8, 40, 200])
@pytest.mark.parametrize("highest", [0.06, 0.3, 0.9])
def test_chance_itself_is_seldom_called_better_or_worse(
    n_worlds: int, highest: float
) -> None:
    """Where success is rare, signs of differences flipped called it worse in 93 %."""
    rng = np.random.default_rng(n_worlds)
    called = 0
    for _ in range(400):
        expected = rng.uniform(0, highest, n_worlds)
        ours = (rng.random(n_worlds) < expected).astype(float)
        p = compare_with_expected("chance", ours, expected).p
        assert p is not None
        called += p < 0.05
    assert called <= 0.05 * 400 + 2 * (0.05 * 0.95 * 400) ** 0.5


def test_shares_within_a_world_are_rounded_towards_chance() -> None:
    expected = np.full(8, 0.3)
    between = compare_with_expected("chance", np.full(8, 0.8), expected)  # 6.4 of 8
    whole = compare_with_expected("chance", np.repeat([1.0, 0.0], [6, 2]), expected)
    assert between.p == whole.p
    assert between.interval and whole.interval
    assert between.interval[0] == whole.interval[0]
    assert between.interval[1] > whole.interval[1]


def test_what_it_says_to_detect_is_found_in_four_of_five_cases() -> None:
    expected = np.full(30, 0.2)
    rng = np.random.default_rng(0)
    detectable = compare_with_expected("chance", np.zeros(30), expected).detectable
    assert detectable is not None
    found = 0
    for _ in range(500):
        ours = (rng.random(30) < 0.2 + detectable).astype(float)
        p = compare_with_expected("chance", ours, expected).p
        found += p is not None and p < 0.05
    assert 0.74 < found / 500 < 0.86


def test_where_chance_is_always_right_nothing_can_be_better() -> None:
    found = compare_with_expected("chance", np.ones(9), np.ones(9))
    assert found.p == 1 and found.detectable is None


def test_numbers_that_are_no_shares_are_not_tested() -> None:
    found = compare_with_expected("chance", np.full(9, 1.5), np.full(9, 0.5))
    assert found.p is None and "no shares" in found.reason
