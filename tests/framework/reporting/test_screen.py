"""One screen: nothing scrolls away, nothing stands alone that has company."""

from dataclasses import replace

import pytest

from gde.data.measure import Measure
from gde.data.probe import CONTROLS, Fit
from gde.data.result import Failure, Measurement, Result, UnusableAnswers
from gde.reporting.finding import opening
from gde.reporting.terminal.screen import HEIGHT, WIDTH, Screen, screen
from gde.reporting.wording import SPACE

LONG = (
    "It was trained by nobody in particular, on nothing much, and for a reason that takes three lines to tell. "
    * 3
)


def lines(shown: Screen) -> list[str]:
    return [*shown.header, *shown.finding, *shown.notes]


def fits(shown: Screen, width: int = WIDTH) -> bool:
    return len(lines(shown)) <= HEIGHT and all(
        len(line) <= width for line in lines(shown)
    )


def probes(n: int) -> list[Measurement]:
    """Of so many probes, with every control, the layers crossed with a sweep of nine
    conditions.
    """
    numbers = []
    for probe in (f"probe{i}" for i in range(n)):
        for control in ("none", *CONTROLS):
            fit = Fit(
                probe=probe, variant="mlp", layer=3, position="pre", control=control
            )  # type: ignore[arg-type]
            conditions = [
                {},
                *(
                    {"size": s, "density": d}
                    for s in (7, 9, 11)
                    for d in (0.0, 0.5, 1.0)
                ),
            ]
            numbers += [
                Measurement(
                    name=f"{probe}.score{k}",
                    value=0.5,
                    unit="share",
                    n=9,
                    interval=(0.4, 0.6),
                    where={**fit.where, **condition},
                    source=probe,
                )
                for k in range(6)
                for condition in (conditions if control == "none" else conditions[:1])
            ]
    return numbers


def test_a_run_with_probes_and_a_sweep_fits(result: Result) -> None:
    shown = screen(result, "runs/example/report.html")
    assert fits(shown)
    text = "\n".join(lines(shown))
    assert "reached the goal in" in " ".join(shown.finding)
    for title in ("Success rate", "Agent found, 8", "random weights 15"):
        assert title in text
    assert "size" not in text, "breakdowns are for --all"
    assert shown.notes[-2] == "report: runs/example/report.html"
    assert shown.notes[-1].startswith("partial: runs/example (")
    assert "answers unusable" in text and "1 of 24 episodes failed" in text


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 200])
def test_a_screen_is_as_wide_as_the_terminal(result: Result, width: int) -> None:
    shown = screen(result, "report.html", width)
    assert fits(shown, width)
    text = "\n".join(shown.finding)
    assert "better" in text and "\u25cf" in text
    assert ("random weights 15" in text) == (width >= 80)
    assert ("[33, 41]" in text) == (width >= 120)


def test_a_number_that_is_worse_than_its_control_is_never_left_out(
    result: Result,
) -> None:
    worse = tuple(
        replace(one, verdict=replace(one.verdict, outcome="worse"))
        if one.verdict is not None and one.name == "cogmap.code.wall"
        else one
        for one in (*result.measurements, *probes(9))
    )
    failures = tuple(
        Failure(stage="rollout", subject=f"0/{i}/0", reason=LONG) for i in range(9)
    )
    shown = screen(replace(result, measurements=worse, failures=failures))
    assert fits(shown)
    (row,) = [line for line in shown.finding if line.startswith("Wall code length")]
    assert row.endswith("\u25bc worse") and "\u25a0" in row
    assert any(line.endswith("more rows: --all") for line in shown.finding)


def test_an_agent_with_few_usable_answers_is_not_judged(result: Result) -> None:
    chance = Measurement(name="references.success.random", value=0.1, unit="share", n=9)
    measure = Measure(chance.name, "random moves", "share", beside="success")
    unread = replace(
        result,
        measurements=(*result.measurements, chance),
        measures=(*result.measures, measure),
        subject=replace(result.subject, unusable=result.subject.turns // 2),
    )
    (row,) = [
        line for line in screen(unread).finding if line.startswith("Success rate")
    ]
    assert row.endswith("! not judged")


def test_the_classes_of_unusable_answers_are_shown_as_far_as_they_fit(
    result: Result,
) -> None:
    classes = [
        UnusableAnswers(status=status, answers=3, example=f"{status} {LONG}")
        for status in ("unparsable", "truncated", "refusal")
    ]
    subject = replace(result.subject, unusable=9, unusable_classes=tuple(classes[:1]))
    few = tuple(one for one in result.measurements if Fit.of(one) is None)
    one = screen(replace(result, subject=subject, measurements=few, failures=()))
    assert "3 without a readable action, e.g. unparsable It was" in "\n".join(one.notes)

    # More cautions than a screen has room for.
    retried = replace(
        subject, retried=2, worlds=4, unusable_classes=(*classes, *classes)
    )
    many = screen(replace(result, subject=retried))
    assert fits(one) and fits(many)
    assert any("more cautions" in line for line in many.notes)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_however_much_was_measured_it_fits_and_says_what_is_left_out(
    result: Result, n: int
) -> None:
    failures = tuple(
        Failure(stage="rollout", subject=f"0/{i}/0", reason=LONG) for i in range(9)
    )
    measures = [
        Measure(
            name=f"probe{i}.*",
            title="A title that is much too long to stand in a line of a table: *",
            headline=True,
        )
        for i in range(n)
    ]
    crowded = replace(
        result,
        measurements=(*result.measurements, *probes(n)),
        measures=(*result.measures, *measures),
        failures=failures,
        provenance={"notice": LONG},
        models=tuple(
            replace(result.models[0], part=f"agent{i}", answered_by={LONG: 1})
            for i in range(n)
        ),
    )
    shown = screen(crowded, "runs/example/report.html")
    assert fits(shown)
    assert "and 8 more failures" in shown.notes
    assert f"all {len(crowded.measurements)} numbers: --all" in shown.notes[-1]
    assert "reached the goal in" in " ".join(shown.finding)


def test_the_header_says_who_was_asked_where_and_for_how_much(result: Result) -> None:
    shown = " ".join(" ".join(screen(result).header).split())
    assert shown == (
        "gpt-oss with nano \u00b7 grid \u00b7 23 worlds \u00b7 24 episodes \u00b7"
        " 23 Nov 2026; 180 calls, 24 k tokens, 12 s, no prices set"
    )
    alone = screen(replace(result, models=())).header
    assert alone[0].startswith("gpt-oss with nano \u00b7 grid")


def test_the_cause_of_a_failure_is_read_to_its_end(result: Result) -> None:
    reason = (
        "openai:http://127.0.0.1:8765/drip/v1: wanted a chat completion, got "
        + "no such thing " * 7
        + "at all"
    )
    failures = tuple(
        Failure(stage="rollout", subject=f"0/{i}/0", reason=reason) for i in range(20)
    )
    shown = screen(replace(result, failures=failures))
    assert fits(shown)
    said = " ".join(shown.notes)
    assert f"failed: rollout 0/0/0: {reason} and 19 more failures" in said
    for n, more in ((1, ""), (4, ""), (5, "and 2 more failures")):
        short = tuple(replace(one, reason="no reply") for one in failures[:n])
        notes = screen(replace(result, failures=short)).notes
        told = [line for line in notes if line.startswith("failed:")]
        assert len(told) == (3 if more else n)
        assert not more or more in notes


def test_a_headline_without_a_value_gives_its_reason(result: Result) -> None:
    absent = Measurement(
        name="success", value=None, unit="share", n=0, reason="no episode was finished"
    )
    shown = screen(replace(result, measurements=(absent,))).finding
    assert any(
        "Success rate" in line and "no episode was finished" in line for line in shown
    )


def test_terminal_and_report_say_the_same_sentence(result: Result) -> None:
    said = opening(result)
    shown = " ".join(screen(result).finding)
    assert said.finding.replace(SPACE, " ") in shown
