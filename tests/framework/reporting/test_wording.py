"""Numbers as people read them."""

from dataclasses import replace

import pytest

from gde.data.probe import CONTROLS
from gde.data.verdict import Outcome, Verdict
from gde.numerics.stats import Interval
from gde.reporting import wording
from gde.reporting.wording import (
    MINUS,
    NAME,
    SPACE,
    counted,
    isolated,
    listed,
    number,
    short,
    verdict_text,
)

ONCE = Verdict(
    control="no_activations",
    difference=2.0,
    interval=(1.0, 4.0),
    p=0.01,
    outcome="better",
    worlds=9,
)
DRAWN = replace(
    ONCE, control="untrained", draws=19, outside=True, assumes="normal", p=0.0001
)
NOTHING = replace(ONCE, p=0.2, outcome="none")
DRAWN_NOTHING = replace(DRAWN, p=0.02, outside=False, outcome="none")
"""A p value below 0.05 alone shows no difference from draws."""


def words(text: str) -> str:
    return text.replace(SPACE, " ")


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
    changes = {"difference": difference, "interval": interval, "outcome": outcome}
    once = replace(ONCE, **changes)  # type: ignore[arg-type]
    text = words(verdict_text(once, "bits"))
    assert text == f"{relation} no activations by 2.00 bits [1.00, 4.00], p 0.010"

    drawn = replace(DRAWN, **changes)  # type: ignore[arg-type]
    text = words(verdict_text(drawn, "bits"))
    assert text == (
        f"{relation} random weights by 2.00 bits [1.00, 4.00],"
        " outside all 19 random initialisations"
    )


@pytest.mark.parametrize(
    ("control", "draws", "told"),
    [
        ("untrained", 19, "outside all 19 random initialisations"),
        ("untrained", 25, "outside all 25 random initialisations"),
        (
            "untrained",
            18,
            "outside all 18 random initialisations, assumed to be normal",
        ),
        ("shuffled", 5, "outside all 5 exchanges of labels, assumed to be normal"),
    ],
)
def test_few_draws_are_said_to_be_assumed_to_be_normal(
    control: str, draws: int, told: str
) -> None:
    """Outside of 19 one more lies in one of twenty cases, whatever they are drawn from."""
    found = replace(DRAWN, control=control, draws=draws)
    assert words(verdict_text(found, "bits")).endswith(f"[1.00, 4.00], {told}")


def test_a_control_that_was_drawn_and_shows_nothing_has_no_p_value() -> None:
    text = words(verdict_text(DRAWN_NOTHING, "bits"))
    assert text == "no difference from random weights shown"


def test_every_control_has_a_name() -> None:
    assert wording.CONTROLS.keys() == {*CONTROLS}


@pytest.mark.parametrize(
    ("texts", "text"),
    [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_the_last_of_a_list_follows_an_and(texts: list[str], text: str) -> None:
    assert listed(texts) == text


def test_a_name_from_right_to_left_is_isolated_and_a_long_one_loses_its_middle() -> (
    None
):
    assert isolated("nano") == "nano"
    assert isolated("\u05e1\u05d5") == "\u2068\u05e1\u05d5\u2069"
    # An override that the name does not end would turn the rest of the sentence round.
    assert isolated("a\u202eb") == "\u2068ab\u2069"
    name = f"{'x' * 300}-0.2"
    assert len(short(name)) == NAME and short(name).endswith("-0.2")
    assert short(name[:NAME]) == name[:NAME]
