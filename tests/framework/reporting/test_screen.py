"""One screen: nothing scrolls away, nothing stands alone that has company."""

import re
from dataclasses import replace

import pytest

from gde.data.measure import Measure
from gde.data.probe import CONTROLS, Fit
from gde.data.result import Failure, Measurement, Result, UnusableAnswers
from gde.reporting.claim import claim
from gde.reporting.terminal.screen import HEIGHT, WIDTH, Screen, screen
from gde.reporting.wording import SPACE

LONG = (
    "It was trained by nobody in particular, on nothing much, and for a reason that takes three lines to tell. "
    * 3
)


def lines(shown: Screen) -> list[str]:
    return [*shown.header, *shown.finding, *shown.notes]


def fits(shown: Screen) -> bool:
    return len(lines(shown)) <= HEIGHT and all(
        len(line) <= WIDTH for line in lines(shown)
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
    for title in ("Success rate", "Accuracy", "Agent found", "random weights"):
        assert title in text
    assert "size" not in text, "breakdowns are for --all"
    assert shown.notes[-2] == "report: runs/example/report.html"
    assert shown.notes[-1].startswith("partial: runs/example (")
    assert "could not be read" in text and "1 of 24 episodes failed" in text


def test_the_classes_of_unusable_answers_are_shown_as_far_as_they_fit(
    result: Result,
) -> None:
    classes = [
        UnusableAnswers(status=status, answers=3, example=f"{status} {LONG}")
        for status in ("unparsable", "truncated", "refusal")
    ]
    subject = replace(result.subject, unusable=9, unusable_classes=tuple(classes[:1]))
    one = screen(replace(result, subject=subject))
    assert "3 without a readable action, e.g. unparsable It was" in "\n".join(one.notes)

    # More cautions than a screen has room for.
    retried = replace(
        subject, retried=2, worlds=4, unusable_classes=(*classes, *classes)
    )
    many = screen(replace(result, subject=retried))
    assert fits(one) and fits(many)
    assert any(line.endswith("more cautions in the report") for line in many.notes)


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
            replace(result.models[0], part=f"agent{i}", answered_by=(LONG,))
            for i in range(n)
        ),
    )
    shown = screen(crowded, "runs/example/report.html")
    assert fits(shown)
    assert "and 8 more failures" in shown.notes
    assert re.search(
        rf"\d+ more lines, all {len(crowded.measurements)} numbers: --all",
        shown.notes[-1],
    )
    assert "reached the goal in" in " ".join(shown.finding)
    assert any(line.startswith("cogmap (places") for line in shown.finding)


def test_the_header_says_which_model_was_asked_when_and_for_how_much(
    result: Result,
) -> None:
    shown = screen(result)
    assert shown.header == (
        "gpt-oss with nano, 23 Nov 2026; 180 calls, 24 k tokens, 12 s, no prices set",
    )
    assert "the agent gpt-oss with nano reached" in " ".join(shown.finding)
    assert screen(replace(result, models=())).header == ()


def test_rivals_stand_together_the_best_first(result: Result) -> None:
    found = {"row": 0.0, "goal": 3.75, "wall": 0.2, "column": -1.0}
    rivals = tuple(
        Measurement(
            name="meg.to", value=value, unit="nats", n=9, where={"utility": name}
        )
        for name, value in found.items()
    )
    shown = screen(replace(result, measurements=rivals)).finding
    (place,) = [
        i for i, line in enumerate(shown) if line.startswith("MEG towards goal")
    ]
    assert (
        shown[place + 1]
        == "  then wall 0.20 nats, row 0.00 nats, column \u22121.00 nats"
    )


def test_what_the_claim_has_told_goes_before_what_it_has_not(result: Result) -> None:
    asked = Measurement(name="meg.to", value=1.0, unit="nats", n=9)
    untold = Measure(name="meg.to", title="MEG towards it", headline=True)
    crowded = replace(
        result,
        measurements=(*result.measurements, asked),
        measures=(untold, *result.measures),
        provenance={"notice": LONG},
    )
    failures = tuple(
        Failure(stage="rollout", subject=f"0/{i}/0", reason=LONG) for i in range(9)
    )
    shown = screen(replace(crowded, failures=failures)).finding
    assert any(line.startswith("MEG towards") for line in shown)
    assert not any(line.startswith("Accuracy") for line in shown)


def test_a_probe_never_stands_without_its_control(result: Result) -> None:
    alone = tuple(
        one for one in result.measurements if one.where.get("control") in {None, "none"}
    )
    for measurements, beside in (
        (result.measurements, "random weights"),
        (alone, "no control"),
    ):
        rows = [
            line
            for line in screen(replace(result, measurements=measurements)).finding
            if line.startswith("Agent")
        ]
        assert rows and all(beside in row for row in rows)


def test_a_row_has_whole_per_cents_and_the_test_against_its_control(
    result: Result,
) -> None:
    decoded = tuple(one for one in result.measurements if Fit.of(one) is not None)
    shown = screen(replace(result, measurements=decoded, failures=())).finding
    head = shown.index(
        "cogmap (places, layer 3, before reasoning), best control and test on the right"
    )
    cells = [re.split("  +", line) for line in shown[head + 1 :]]
    random = "outside all 19"
    assert cells == [
        ["Agent found", "49 %", "[44, 54]", "random weights 20 %", random],
        ["Goal found", "43 %", "[39, 48]", "random weights 17 %", random],
        ["Agent found early", "37 %", "[33, 41]", "random weights 15 %", random],
        ["Goal found early", "31 %", "[28, 34]", "random weights 12 %", random],
        [
            "Wall code length",
            "0.36 bits",
            "[0.33, 0.40]",
            "random weights 0.61",
            random,
        ],
    ]


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
    for n, more in ((1, ""), (3, ""), (4, "and 1 more failures")):
        short = tuple(replace(one, reason="no reply") for one in failures[:n])
        notes = screen(replace(result, failures=short)).notes
        assert len([line for line in notes if line.startswith("failed:")]) == min(n, 3)
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
    said = claim(result)
    shown = " ".join(screen(result).finding)
    assert f"{said.behaviour} {said.belief}".replace(SPACE, " ") in shown
