"""The minimum detectable difference is that of the t test."""

import pytest

from gde.numerics.stats import minimum_detectable


@pytest.mark.parametrize("n", [6, 10, 30, 300])
def test_the_minimum_detectable_effect_agrees_with_statsmodels(n: int) -> None:
    from statsmodels.stats.power import TTestPower

    theirs = TTestPower().solve_power(nobs=n, alpha=0.05, power=0.8)
    assert minimum_detectable(n**-0.5, n - 1) == pytest.approx(theirs, rel=0.03)


def test_more_power_asks_for_a_larger_difference() -> None:
    assert (
        minimum_detectable(1, 9, power=0.9)
        > minimum_detectable(1, 9)
        > minimum_detectable(1, 9, alpha=0.1)
    )
    assert minimum_detectable(2, 9) == pytest.approx(2 * minimum_detectable(1, 9))


def test_one_value_has_no_spread() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        minimum_detectable(1, 0)
