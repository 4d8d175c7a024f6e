"""Trends agree with SciPy and statsmodels, respect clusters, and say why they were not
measured.
"""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import page_trend_test, spearmanr, t

from gde.numerics.stats import linear_trend, page, spearman


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_spearman_is_scipys_with_a_p_value_of_permutations() -> None:
    x, y = np.repeat([7.0, 9, 11, 13, 15], 12), rng(1).random(60)
    ours, theirs = spearman(x, y, np.arange(60), rng()), spearmanr(x, y)
    assert ours.value == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)


def test_spearman_of_few_clusters_is_enumerated() -> None:
    y = np.array([2.0, 1, 3, 5, 4])
    correlations = [spearmanr(order, y).statistic for order in permutations(range(5))]
    found = spearman(np.arange(5), y, np.arange(5), rng())
    upper = np.mean(np.array(correlations) >= (found.value or 0) - 1e-9)
    assert found.p_value == pytest.approx(2 * upper)


@pytest.mark.parametrize("n", range(5, 40, 2))
def test_a_perfect_rank_correlation_is_one_and_never_more(n: int) -> None:
    for sign in (1, -1):
        found = spearman(np.arange(n), sign * np.arange(n), range(n), rng(), 99)
        assert found.value == pytest.approx(sign)
        assert abs(found.value or 0) <= 1


def test_spearman_takes_clusters_for_units() -> None:
    x, y, clusters = rng(1).random(9), rng(2).random(9), np.arange(9)
    copied = spearman(
        np.repeat(x, 20), np.repeat(y, 20), np.repeat(clusters, 20), rng()
    )
    assert copied == spearman(x, y, clusters, rng())


def test_page_is_scipys_in_both_directions() -> None:
    table = rng(1).normal(size=(9, 4)) + np.arange(4)
    rise, fall = page(table), page(table[:, ::-1])
    assert rise.value == page_trend_test(table).statistic
    assert rise.p_value == pytest.approx(2 * page_trend_test(table).pvalue)
    assert fall.p_value == rise.p_value
    assert (fall.value or 0) < (rise.value or 0)


def test_a_flat_table_has_a_p_value_of_at_most_one() -> None:
    assert page([[1, 2, 3], [3, 2, 1]] * 2).p_value == 1.0


def test_a_line_is_that_of_statsmodels_and_its_error_close() -> None:
    from statsmodels.regression.linear_model import OLS

    clusters = np.repeat(np.arange(80), 12)
    x = rng(1).random(960) + np.repeat(rng(2).random(80), 12)
    y = 0.3 * x + np.repeat(rng(3).normal(size=80), 12) + rng(4).normal(size=960)
    ours = linear_trend(x, y, clusters)
    design = np.column_stack([np.ones(960), x])
    theirs = OLS(y, design).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
    )
    assert ours.value == pytest.approx(theirs.params[1])
    assert ours.interval == pytest.approx(theirs.conf_int()[1], abs=0.1 * theirs.bse[1])
    assert ours.p_value == pytest.approx(theirs.pvalues[1], rel=0.2)


def test_the_error_of_a_line_is_the_jackknife_over_clusters() -> None:
    x, y, clusters = rng(1).random(40), rng(2).random(40), np.repeat(np.arange(8), 5)
    without = [np.polyfit(x[clusters != g], y[clusters != g], 1)[0] for g in range(8)]
    found = linear_trend(x, y, clusters)
    error = np.sqrt(((np.array(without) - found.value) ** 2).sum())
    low, high = found.interval or (0, 0)
    assert (high - low) / 2 / error == pytest.approx(
        2.364624
    )  # Student's t, 7 degrees of freedom
    assert found.value is not None
    assert found.p_value == pytest.approx(2 * t.sf(abs(found.value) / error, 7))


def test_a_line_without_error_is_certain() -> None:
    x, clusters = np.arange(40.0), np.repeat(np.arange(8), 5)
    level = linear_trend(x, np.ones(40), clusters)
    assert (level.value, level.p_value) == (0.0, 1.0)
    assert (linear_trend(x, 2 * x, clusters).p_value or 0) < 1e-12


@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        (
            lambda: spearman([1, 2, 3, 4], [1, 2, 3, 4], range(4), rng()),
            "4 clusters, needs 5",
        ),
        (
            lambda: spearman(range(9), [1] * 9, range(9), rng()),
            "the values do not vary",
        ),
        (lambda: page([[1, 2, 3]] * 2), "2 blocks of 3 conditions, needs 3 of 3"),
        (lambda: page([[1, 2]] * 9), "9 blocks of 2 conditions, needs 3 of 3"),
        (lambda: page([[1, 1, 1], [2, 2, 2], [3, 3, 3]]), "the values do not vary"),
        (lambda: linear_trend(range(5), range(5), range(5)), "5 clusters, needs 6"),
        (
            lambda: linear_trend([1] * 9, range(9), range(9)),
            "the values vary in less than two clusters",
        ),
        (
            lambda: linear_trend([1] * 8 + [2], range(9), range(9)),
            "the values vary in less than two clusters",
        ),
    ],
)
def test_what_shows_no_trend_says_why(finding: object, reason: str) -> None:
    assert callable(finding)
    assert finding().reason == f"not measured: {reason}"


def test_what_is_no_data_is_refused() -> None:
    with pytest.raises(ValueError, match="not empty"):
        linear_trend([], [], [])
    with pytest.raises(ValueError, match="must be finite"):
        linear_trend([1, np.nan], [1, 2], [0, 1])
    with pytest.raises(ValueError, match="equally long"):
        spearman([1, 2], [1], [0, 1], rng())
    with pytest.raises(ValueError, match="blocks by conditions"):
        page([1, 2, 3])
