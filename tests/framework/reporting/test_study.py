"""A study says in one sentence what it found, beside what was published."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.data.reward import READS_NOTHING, READS_TRUTH
from gde.data.verdict import Verdict
from gde.parts.reproduction import Comparison
from gde.reporting.study import forest, opening
from gde.reporting.terminal.study_screen import study_screen
from gde.reporting.wording import SPACE
from gde.studies.study import Study

WIDTH = 80
HEIGHT = 21
"""The command prints three lines more."""


def number(value: float | None, n: int = 60, **fields: Any) -> Measurement:
    interval = None if value is None else (value - 0.1, value + 0.1)
    reason = "" if interval else "not in the run"
    about = {"unit": "share", "interval": interval, "reason": reason, **fields}
    return Measurement(name="success", value=value, n=n, **about)


def row(
    name: str, value: float | None, paper: float | None, **fields: Any
) -> Comparison:
    ours = fields.pop("ours", number(value))
    about = {"source": "S", "table": "Table 1 (section 4)", **fields}
    return Comparison(quantity=name, paper=paper, ours=ours, **about)


@pytest.fixture
def of(result: Result) -> Any:
    """A study of one run with these rows."""

    def made(*rows: Comparison, **fields: Any) -> Study:
        about = {"results": {"grids": result}, "scale": 1.0, **fields}
        return Study(
            name="telos", folder=Path("runs"), rows=rows, figures=(), figures_missing="", **about
        )  # fmt: skip

    return made


def said(study: Study) -> str:
    return opening(study).finding.replace(SPACE, " ")


def test_published_numbers_in_our_intervals_are_counted_and_the_furthest_named(
    of: Any,
) -> None:
    rows = [
        row("Success", 0.5, 0.45),
        row("Accuracy", 0.9, 0.3),
        row("Length", 0.9, 0.7),
    ]
    # Neither few worlds nor another method show anything.
    apart = [
        row("few", 0.2, 0.2, ours=number(0.2, n=59)),
        row("rules", 0.2, 0.2, differs="by rules"),
    ]
    found = opening(of(*rows, *apart))
    assert said(of(*rows, *apart)) == (
        "1 of 3 published numbers lie in the 95 % interval of the new one; furthest off is accuracy: 90 %,"
        " published 30."
    )
    assert any(
        one.startswith("2 published numbers not compared") for one in found.limits
    )
    words = {
        row.title: row.word for group in forest(of(*rows, *apart)) for row in group.rows
    }
    assert words == {
        "Success": "within", "Accuracy": "outside", "Length": "outside", "few": "not compared", "rules": "not compared"
    }  # fmt: skip


def test_exact_numbers_are_told_by_half_of_them(of: Any) -> None:
    exact = [
        row(f"k = {i}", None, 1.0, ours=number(1 + i / 100, interval=None, unit="nats"))
        for i in range(5)
    ]
    study = of(*exact, results={})
    assert said(study) == "Half of 5 published numbers are within 2 % of the new ones."
    assert [row.word for row in forest(study)[0].rows] == [
        f"{i} % off" for i in range(5)
    ]
    assert not opening(study).limits


def test_without_a_comparison_the_first_number_is_told(of: Any) -> None:
    study = of(row("Missing", None, 0.4), row("Success", 0.5, None), scale=0.05)
    assert said(study) == "gpt-oss with nano: success 50 % (table 1)."
    limits = [one.replace(SPACE, " ") for one in opening(study).limits]
    assert (
        "1 of 2 numbers not measured" in limits
        and "5 % of the published size" in limits
    )
    assert (
        said(of(row("Missing", None, 0.4)))
        == "No number of the study could be measured."
    )


def test_among_reward_models_the_one_that_reads_the_truth_is_not_the_best(
    of: Any, result: Result
) -> None:
    measure = Measure(
        "success", "EPIC distance", "distance", "less", contender="reward"
    )
    contended = replace(result, measures=(measure,))
    rows = [
        row(f"{name}, overall", value, paper, column="overall", differs=differs)
        for name, value, paper, differs in (
            ("oracle", 0.0, None, READS_TRUTH), ("factory", 0.3, 0.25, "by rules"), ("judge", 0.6, None, ""),
            ("clock", 0.2, None, READS_NOTHING), ("words", 0.1, None, READS_NOTHING),
        )
    ]  # fmt: skip
    study = of(*(replace(one, ours=replace(one.ours, n=9)) for one in rows), results={"rb": contended})  # fmt: skip
    assert said(study) == (
        "words, which reads no observation, has the least EPIC distance (overall): 10 %; "
        "the best of 2 that read, factory, has 30 %, published 25 (by rules)."
    )
    assert "gpt-oss" not in opening(study).subject


def test_a_profile_is_told_by_its_agent_beside_controls(of: Any) -> None:
    verdict = Verdict(
        control="random moves", difference=0.4, p=0.001, outcome="better", worlds=9
    )
    ours = number(0.5, verdict=verdict)
    others = {"big, published": number(0.9, n=0), "random": number(0.1)}
    study = of(
        row("Success", 0.5, None, ours=ours, others=others),
        claim=("reached the goal in 50 % of grids.", "Plan +3 points."),
    )
    assert said(study) == "gpt-oss with nano reached the goal in 50 % of grids."
    assert opening(study).notes == ("Plan +3 points.",)
    ((shown,),) = (group.rows for group in forest(study))
    assert (shown.control, shown.word) == ("random 10", "better")


@pytest.mark.parametrize("width", [60, 80, 120, 160])
def test_a_screen_has_24_lines_whatever_the_study_holds(of: Any, width: int) -> None:
    rows = [
        row(
            f"{'Number ' * 40}{i}",
            i / 200,
            0.5,
            table=f"Table {i % 9}{' of much' * 30}",
        )
        for i in range(150)
    ]
    study = of(*rows, claim=("",) if width == 60 else ())
    lines = study_screen(study, width)
    assert len(lines) <= HEIGHT and max(map(len, lines)) <= width
    assert any(line.endswith("more rows: --table markdown") for line in lines)
