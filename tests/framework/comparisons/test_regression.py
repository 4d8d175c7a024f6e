"""Checks that a new run is not worse than a base run."""

from typing import Any

import pytest

from gde.comparisons.differences import Compared, Row, Side
from gde.comparisons.regression import check_not_worse
from gde.data.measure import Better
from gde.data.result import Subject
from gde.errors import GdeError, UnknownName


def row(name: str, difference: float, p: float | None, better: Better) -> Row:
    nothing: dict[str, Any] = dict.fromkeys(
        ("interval", "rank_biserial", "effect_paper", "mde", "n_different")
    )
    return Row(
        name=name,
        title=name.title(),
        better=better,
        where={},
        unit="share",
        n=20,
        clusters=20,
        a=0.5,
        b=0.5 + difference,
        difference=difference,
        p_permutation=p,
        p_wilcoxon=p,
        reason="" if p is not None else "not measured: 2 of 20 pairs differ, needs 6",
        **nothing,
    )


def compared(*rows: Row) -> Compared:
    side = Side(run="run", subject=Subject())
    return Compared(runs=(side, side), rows=rows, notes=())


@pytest.mark.parametrize(
    ("difference", "p", "better", "passed"),
    [
        (-0.2, 0.01, "more", False),
        (+0.2, 0.01, "more", True),
        (+0.2, 0.01, "less", False),
        (-0.2, 0.01, "less", True),
        (-0.2, 0.2, "more", True),
        (0.0, None, "more", True),
        (-0.1, None, "more", False),
    ],
    ids=[
        "worse",
        "better",
        "more cost",
        "less cost",
        "not shown",
        "equal",
        "untestable",
    ],
)
def test_only_a_shown_loss_or_an_untestable_difference_fails(
    difference: float, p: float | None, better: Better, passed: bool
) -> None:
    (check,) = check_not_worse(
        compared(row("accuracy", difference, p, better)), ["accuracy"]
    )
    assert check.passed is passed
    assert bool(check.reason) is (p is None)


def test_p_values_are_corrected_over_the_chosen_numbers_alone() -> None:
    rows = [row(name, -0.1, 0.03, "more") for name in ("a", "b", "c")]
    (alone,) = check_not_worse(compared(*rows), ["a", "a"])
    assert (alone.p, alone.passed) == (0.03, False)
    both = check_not_worse(compared(*rows), ["a", "b"])
    assert [(one.p, one.passed) for one in both] == [(0.06, True)] * 2


def test_what_cannot_be_checked_is_refused() -> None:
    found = compared(row("accuracy", 0.1, 0.5, "more"), row("length", 1, 0.5, ""))
    with pytest.raises(UnknownName, match="acuracy"):
        check_not_worse(found, ["acuracy"])
    with pytest.raises(GdeError, match=r"length: neither direction.*accuracy"):
        check_not_worse(found, ["length"])
