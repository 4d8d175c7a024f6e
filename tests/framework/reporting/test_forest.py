"""The rows of the forest plot: each number where its part says that it belongs, beside
what it is to be compared with, on one axis.
"""

from dataclasses import replace

import pytest

from gde.data.measure import Measure
from gde.data.probe import Control, Fit
from gde.data.result import Measurement, Result
from gde.data.verdict import Outcome
from gde.reporting.findings import Beside
from gde.reporting.forest import Group, Row, forest, on_axes, row_of
from gde.reporting.terminal.plot import plot
from gde.reporting.wording import SPACE
from gde_plugins.pages.tables import Cell, cell

UNHEARD = (
    Measure(
        "sway", "Sway towards {thing}", "nats", "more", headline=True, question="wants"
    ),
    Measure("luck", "guessing", "share", beside="success"),
    Measure("best", "an oracle", "share", beside="success", bound=True),
)


def sway(thing: str, value: float | None) -> Measurement:
    return Measurement(
        name="sway",
        value=value,
        unit="nats",
        n=9,
        where={"thing": thing},
        reason="" if value is not None else "?",
    )


def unheard(result: Result, *found: Measurement) -> Result:
    """With numbers of a plugin that nobody has heard of."""
    return replace(
        result,
        measurements=(*result.measurements, *found),
        measures=(*result.measures, *UNHEARD),
    )


def rows(groups: list[Group], question: str) -> list[Row]:
    return [row for one in groups if one.question == question for row in one.rows]


def test_a_run_without_probes_and_goals_has_one_group(result: Result) -> None:
    plain = tuple(one for one in result.measurements if not one.where)
    (group,) = forest(replace(result, measurements=plain))
    assert group.question == "did" and group.title == "What it did, % (more is better)"
    assert (group.low, group.high) == (0.0, 1.0)
    assert group.rows[0].title == "Success rate"


def test_a_baseline_stands_beside_its_number_and_a_bound_is_no_control(
    result: Result,
) -> None:
    luck = Measurement(name="luck", value=0.25, unit="share", n=9)
    best = Measurement(name="best", value=0.9, unit="share", n=9)
    success, *others = rows(forest(unheard(result, best, luck)), "did")
    assert success.control == "guessing 25"
    assert success.beside.bounds == (("an oracle", best),)
    assert (success.mark, success.word) == ("?", "untested")
    assert not any(row.control for row in others)


@pytest.mark.parametrize(
    ("outcome", "shown"),
    [
        ("better", "\u25b2 better"),
        ("worse", "\u25bc worse"),
        ("none", "~ unclear"),
        ("different", "~ different"),
        ("untested", "? untested"),
    ],
)
def test_a_verdict_is_a_mark_and_a_word(
    result: Result, outcome: Outcome, shown: str
) -> None:
    judged = [
        replace(one, verdict=replace(one.verdict, outcome=outcome))
        if one.verdict
        else one
        for one in result.measurements
    ]
    found = rows(forest(replace(result, measurements=tuple(judged))), "believes")
    assert {f"{row.mark} {row.word}" for row in found} == {shown}


@pytest.mark.parametrize(
    ("theirs", "shown"), [(0.5, "= equal"), (0.4, "? untested"), (None, "? untested")]
)
def test_the_same_number_of_a_control_is_called_equal(
    theirs: float | None, shown: str
) -> None:
    measure = Measure("top1", "Found", "share", "more")
    ours = Measurement(name="top1", value=0.5, unit="share", n=9)
    rival = replace(ours, value=theirs, reason="" if theirs else "?")
    beside = Beside(measure=measure, ours=ours, control="prompt tokens", rival=rival)
    row = row_of("Found", beside)
    assert f"{row.mark} {row.word}" == shown


def test_each_number_of_a_probe_stands_beside_its_strongest_control(
    result: Result,
) -> None:
    """A reader shown few worlds comes first: it tells more of a model."""
    found = rows(forest(result), "believes")
    assert [(row.title, row.value, row.control) for row in found] == [
        ("Agent found, 8 worlds", "37\u00a0%", "random weights 15"),
        ("Goal found, 8 worlds", "31\u00a0%", "random weights 12"),
        ("Agent found", "49\u00a0%", "random weights 20"),
        ("Goal found", "43\u00a0%", "random weights 17"),
        ("Wall code length", "0.36", "random weights 0.61"),
    ]
    assert all("outside all 19 random initialisations" in row.test for row in found)


def test_a_baseline_of_a_probe_has_no_control(result: Result) -> None:
    guess = Measure("other.guess", "Guess", "share", headline=True)
    controls: tuple[Control, ...] = ("none", "shuffled", "untrained")
    of_fits = [
        Measurement(
            name=guess.name,
            value=0.5,
            unit="share",
            n=9,
            where=Fit(
                probe="other", variant="v", layer=1, position="pre", control=control
            ).where,
            source="other",
        )
        for control in controls
    ]
    found = replace(
        result,
        measurements=(*result.measurements, *of_fits),
        measures=(*result.measures, guess),
    )
    *_, baseline = rows(forest(found), "believes")
    assert (baseline.title, baseline.control, baseline.word) == ("Guess", "", "")


def test_rivals_are_ranked_on_one_axis_that_holds_them_all(result: Result) -> None:
    found = [sway("lamp", -1.0), sway("door", 3.0), sway("lost", None)]
    (group,) = [
        one for one in forest(unheard(result, *found)) if one.question == "wants"
    ]
    assert [(row.title, row.value) for row in group.rows] == [
        ("Sway towards door", "3.00"),
        ("Sway towards lamp", "\N{MINUS SIGN}1.00"),
        ("Sway towards lost", "\u2013"),
    ]
    assert (group.low, group.high) == (-1.0, 3.0)
    assert [group.place(value) for value in (-9, -1, 0, 3)] == [0, 0, 0.25, 1]
    lines = plot([group], 80, 24)
    door, lamp, lost = lines[1:4]
    assert door.index("\u25cf") > lamp.index("\u25cf")
    assert "\u25cf" not in lost and "?" in lost
    assert lines[-1].split() == ["\N{MINUS SIGN}1.00", "3.00", "nats"]


def test_groups_with_the_same_axis_share_it(result: Result) -> None:
    lines = plot(forest(result), 80, 40)
    assert sum(line.split()[:2] == ["0", "25"] for line in lines) == 1
    assert plot([], 80, 24) == []


def test_why_there_is_no_interval_stands_in_its_place() -> None:
    measure = Measure("mine", "Mine", "share", "more")
    ours = Measurement(name="mine", value=0.5, unit="share", n=9, reason="equal")
    row = row_of("mine", Beside(measure=measure, ours=ours))
    assert (row.value, row.interval) == (f"50{SPACE}%", "equal")
    assert cell(ours) == Cell(text="50.0", bounds="equal")


def test_rows_without_a_value_give_way_to_those_with_one() -> None:
    measure = Measure("mine", "Mine", "share", "more")
    many = []
    for i in range(20):
        value = None if i < 10 else 0.5
        ours = Measurement(
            name="mine", value=value, unit="share", n=9, reason="" if value else "none"
        )
        many.append(row_of(f"row {i}", Beside(measure=measure, ours=ours)))
    (group,) = on_axes("did", "What it did", many)
    lines = plot([group], 80, 13)
    shown = [line.split()[1] for line in lines if line.startswith("row ")]
    assert shown == [str(i) for i in range(10, 20)]


def test_of_many_conditions_the_worst_are_shown(result: Result) -> None:
    sizes = [*range(1, 41)]
    numbers = [
        Measurement(
            name="success", value=1 / size, unit="share", n=9, where={"size": size}
        )
        for size in sizes
    ]
    swept = replace(
        result,
        measurements=(*result.measurements, *numbers),
        provenance={"plan": {"env": {"size": sizes}}},
    )
    group = next(one for one in forest(swept) if "by condition" in one.title)
    assert (
        group.title == "Success rate by condition, the worst of 42, % (more is better)"
    )
    assert group.rows[0].title == f"size{SPACE}40" and len(group.rows) == 12


def test_no_rival_is_left_out_without_a_word(result: Result) -> None:
    many = [sway(f"thing{i}", i / 10) for i in range(14)]
    groups = forest(unheard(result, *many))
    assert sum(row.title.startswith("Sway") for row in rows(groups, "wants")) == 14
    more = plot(groups, 80, 40)
    assert any(line.startswith("and ") and "more row" in line for line in more)


def test_numbers_of_no_unit_have_an_axis_each(result: Result) -> None:
    found = [
        Measurement(name=name, value=value, unit="", n=9)
        for name, value in (("far", 300.0), ("near", 0.01))
    ]
    measures = [Measure(one.name, one.name, "", headline=True) for one in found]
    own = replace(result, measurements=tuple(found), measures=tuple(measures))
    assert [one.high for one in forest(own)] == [300.0, 0.01]
