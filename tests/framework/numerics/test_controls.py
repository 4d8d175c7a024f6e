"""The mean of a number over the draws of a control."""

import pytest

from gde.data.result import Measurement
from gde.numerics.controls import over_initialisations


def measured(value: float, low: float, high: float) -> list[Measurement]:
    interval = (low, high)
    one = Measurement(name="top1", value=value, unit="share", n=9, interval=interval)
    return [one]


def test_the_interval_of_a_mean_share_ends_where_shares_do() -> None:
    (low,) = over_initialisations([measured(0.1, 0, 0.3), measured(0.3, 0.1, 0.5)])
    assert low.interval is not None
    assert low.value == pytest.approx(0.2)
    assert low.interval[0] == 0
    (high,) = over_initialisations([measured(0.9, 0.7, 1), measured(0.7, 0.5, 0.9)])
    assert high.interval is not None
    assert high.interval[1] == 1
