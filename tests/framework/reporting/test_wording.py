"""Numbers as people read them."""

import pytest

from gde.reporting.wording import MINUS, counted, number


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (-0.0004, "nats", "0.00"),
        (-0.006, "nats", f"{MINUS}0.01"),
        (0.125, "share", "12.5"),
        (-0.0001, "share", "0.0"),
        (7.0, "count", "7"),
        (1e-7, "probability", "< 0.001"),
    ],
)
def test_a_number_is_rounded_and_zero_has_no_sign(
    value: float, unit: str, text: str
) -> None:
    assert number(value, unit) == text


@pytest.mark.parametrize(
    ("n", "clusters", "text"),
    [
        (200, 5, "200 in 5 clusters"),
        (3, 1, "3 in 1 cluster"),
        (40, 40, "40"),
        (40, None, "40"),
    ],
)
def test_clusters_stand_beside_a_number_of_observations_that_differs(
    n: int, clusters: int | None, text: str
) -> None:
    assert counted(n, clusters) == text
