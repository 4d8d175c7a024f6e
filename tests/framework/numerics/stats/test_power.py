"""The minimum detectable difference is that of the t test."""

import numpy as np
import pytest
from scipy.stats import t

from gde.numerics.stats import minimum_detectable
from gde.numerics.stats._power import minimum_detectable_of


@pytest.mark.parametrize("n", [6, 10, 30, 300])
def test_the_minimum_detectable_effect_agrees_with_statsmodels(n: int) -> None:
    from statsmodels.stats.power import TTestPower

    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert minimum_detectable(n**-0.5, n - 1) == pytest.approx(theirs, rel=0.03)


def test_what_is_detectable_grows_with_the_error() -> None:
    assert minimum_detectable(2, 9) == pytest.approx(2 * minimum_detectable(1, 9))


def test_one_value_has_no_spread() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        minimum_detectable(1, 0)
    assert minimum_detectable(1, 1) > minimum_detectable(1, 2)


def test_the_error_is_that_of_the_mean() -> None:
    """Worked by hand: variance 1 of three clusters, on two degrees of freedom."""
    found = minimum_detectable_of(np.array([1.0, 2.0, 3.0]))
    assert found.value == pytest.approx((t.ppf(0.975, 2) + t.ppf(0.8, 2)) / 3**0.5)


def test_a_difference_is_detectable_where_there_is_spread_to_tell() -> None:
    assert minimum_detectable_of(np.ones(1)).reason == (
        "not measured: 1 cluster, needs 2"
    )
    assert minimum_detectable_of(np.ones(2)).reason == (
        "not measured: the values do not vary"
    )
