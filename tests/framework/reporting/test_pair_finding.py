"""A comparison of two runs begins with one sentence."""

from dataclasses import replace

import pytest

from gde.comparisons.differences import Compared, Row, Side
from gde.data.result import Subject, readable_rates
from gde.reporting.contest import pair_finding

SPEED = Row(
    name="length",
    title="Turns",
    where={},
    unit="",
    n=40,
    clusters=40,
    n_different=20,
    a=5.0,
    b=4.0,
    difference=-1.0,
    interval=(-1.5, -0.5),
    p_permutation=0.001,
    p_wilcoxon=0.001,
    rank_biserial=0.5,
    effect_paper=None,
    mde=0.75,
    p=0.002,
    reason="",
)
SUCCESS = replace(
    SPEED,
    name="success",
    title="Success rate",
    better="more",
    unit="share",
    difference=0.25,
    interval=(0.125, 0.375),
    mde=0.125,
)


def answering(unusable: int) -> Subject:
    return Subject(turns=100, unusable=unusable)


def said(*rows: Row, unusable: int = 0) -> str:
    runs = [
        Side(run=name, subject=answering(n), models=())
        for name, n in (("a", 0), ("b", unusable))
    ]
    compared = Compared(runs=tuple(runs), rows=rows, notes=())
    return pair_finding(compared).replace("\u00a0", " ")


def test_the_first_number_that_can_be_better_is_told() -> None:
    part = replace(SUCCESS, where={"size": 9}, difference=-0.5)
    assert said(SPEED, part, SUCCESS) == (
        "Success rate: B 25.0 points above A on average over 40 worlds [12.5, 37.5], p = 0.002."
    )


def test_no_clear_difference_comes_with_what_would_have_been_found() -> None:
    assert said(replace(SUCCESS, p=0.2)) == (
        "A and B do not clearly differ in success rate over 40 worlds; one of 12.5 points would likely show."
    )


def test_without_a_test_nothing_is_found() -> None:
    assert said(SPEED, replace(SUCCESS, p=None, reason="3 pairs")) == ""


@pytest.mark.parametrize(
    ("unusable", "first"),
    [(5, "Success rate: B"), (6, "Answers that could be read: A 100 %, B 94 %. Succ")],
)
def test_the_shares_of_readable_answers_come_first_where_they_limit_it(
    unusable: int, first: str
) -> None:
    assert said(SUCCESS, unusable=unusable).startswith(first)


def test_of_many_runs_the_range_is_told() -> None:
    runs = {f"run {n}": answering(10 * n) for n in range(4)}
    said = readable_rates({**runs, "silent": Subject()})
    assert said == "Answers that could be read: 70 to 100 %."
