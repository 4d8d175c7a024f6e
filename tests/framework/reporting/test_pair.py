"""The figure of two runs: the second beside the first, with what their test says."""

from dataclasses import replace
from pathlib import Path

import pytest

from gde.comparisons.comparison import Comparison
from gde.comparisons.differences import Compared, ProbeRow, Row, Side
from gde.data.json import Labels
from gde.data.measure import Measure
from gde.data.result import Measurement, Result, Subject
from gde.data.verdict import Verdict
from gde.reporting.pair import pair_groups
from gde.reporting.terminal.pair_screen import pair_screen

SUCCESS = Row(
    name="success",
    title="Success rate",
    better="more",
    where={},
    unit="share",
    n=40,
    clusters=40,
    n_different=20,
    a=0.75,
    b=0.5,
    difference=-0.25,
    interval=(-0.375, -0.125),
    p_permutation=0.001,
    p_wilcoxon=0.001,
    rank_biserial=0.5,
    effect_paper=None,
    mde=0.125,
    p=0.002,
    reason="",
)


def result(value: float) -> Result:
    number = Measurement(
        name="success", value=value, unit="share", n=40, interval=(0.25, 1.0)
    )
    return Result(
        run="r",
        status="ok",
        plan_hash="",
        measurements=(number,),
        failures=(),
        subject=Subject(agent="noisy", environment="grid", turns=9, worlds=40),
        measures=(Measure("success", "Success rate", "share", "more", headline=True),),
    )


def found(*rows: Row, probes: tuple[ProbeRow, ...] = ()) -> Comparison:
    runs = {"old": Path("old"), "new": Path("new")}
    sides = tuple(Side(run=name, subject=Subject()) for name in runs)
    return Comparison(
        runs=runs,
        results={"old": result(0.75), "new": result(0.5)},
        differing={"old": {"agent.p": 0.1}, "new": {"agent.p": 0.4}},
        compared=(Compared(runs=sides, rows=rows, probes=probes, notes=()),),
    )


def test_the_second_stands_beside_the_first_with_the_size_of_the_difference() -> None:
    part = replace(SUCCESS, where={"size": 9})
    other = replace(SUCCESS, name="length", title="Turns")
    [group] = pair_groups(found(part, other, SUCCESS))
    [row] = group.rows
    assert (row.title, row.value, row.control) == (
        "Success rate",
        "50\u00a0%",
        "old 75",
    )
    assert (row.word, row.by) == ("worse", "by 25.0\u00a0points [12.5,\u00a037.5]")
    assert row.beside.ours.interval == (0.25, 1.0)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"p": 0.2}, "unclear"),
        ({"p": None, "reason": "3 of 40 pairs differ, needs 6"}, "untested"),
        ({"p": None, "n_different": 0, "a": 0.5, "difference": 0.0}, "equal"),
        ({"p": 0.002, "a": 0.25, "difference": 0.25}, "better"),
    ],
)
def test_the_word_is_the_test_of_the_two(changes: dict[str, object], word: str) -> None:
    [group] = pair_groups(found(replace(SUCCESS, **changes)))  # type: ignore[arg-type]
    [row] = group.rows
    assert row.word == word
    assert bool(row.by) is (word == "better")


def test_a_number_over_the_shared_worlds_alone_has_no_interval_of_the_whole() -> None:
    [group] = pair_groups(found(replace(SUCCESS, b=0.45)))
    ours = group.rows[0].beside.ours
    assert (ours.value, ours.interval) == (0.45, None)


def test_the_headlines_of_the_main_fit_of_a_probe_follow() -> None:
    def row(variant: str, value: float) -> ProbeRow:
        where: Labels = {
            "variant": variant,
            "layer": 3,
            "position": "pre",
            "control": "none",
        }
        number = Measurement(
            name="cogmap.top1.goal",
            value=value,
            unit="share",
            n=9,
            where=where,
            source="cogmap",
        )
        between = Verdict(
            control="A",
            difference=-0.5,
            interval=(-0.6, -0.4),
            p=0.001,
            outcome="worse",
            worlds=9,
        )
        return ProbeRow(
            name=number.name,
            title="Goal found",
            better="more",
            a=replace(number, value=value + 0.5),
            b=number,
            between=between,
        )

    groups = pair_groups(
        found(SUCCESS, probes=(row("places", 0.25), row("mlp", 0.125)))
    )
    _, probed = groups
    [goal] = probed.rows
    assert (goal.title, goal.control) == ("Goal found", "old 75")
    assert (goal.word, goal.by) == ("worse", "by 50.0\u00a0points [40.0,\u00a060.0]")
    assert "places" in probed.title


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_the_screen_names_both_and_their_settings(width: int) -> None:
    lines = pair_screen(found(SUCCESS), width)
    assert max(map(len, lines)) <= width and len(lines) <= 20
    assert lines[0].startswith("new against old")
    text = "\n".join(lines)
    assert "old: agent.p 0.1" in text and "new: agent.p 0.4" in text
    assert "worse by 25.0" in text and "\u25cb old" in text
    assert ("[12.5, 37.5]" in text) == (width >= 120)
