"""Numbers as people read them."""

import pytest

from gde.data.verdict import Outcome, Verdict
from gde.numerics.stats import Interval
from gde.reporting.wording import MINUS, SPACE, counted, number, verdict_text


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


@pytest.mark.parametrize(
    ("difference", "interval"), [(2.0, (1.0, 4.0)), (-2.0, (-4.0, -1.0))]
)
@pytest.mark.parametrize(
    ("outcome", "relation"),
    [
        ("better", "better than"),
        ("worse", "worse than"),
        ("different", "differs from"),
    ],
)
def test_a_finding_says_its_direction_in_words_and_its_size_without_a_sign(
    difference: float, interval: Interval, outcome: Outcome, relation: str
) -> None:
    found = Verdict(
        control="untrained",
        difference=difference,
        interval=interval,
        p=0.01,
        outcome=outcome,
        worlds=9,
    )
    text = verdict_text(found, "bits").replace(SPACE, " ")
    assert text == f"{relation} random weights by 2.00 bits [1.00, 4.00], p 0.010"
