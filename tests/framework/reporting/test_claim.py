"""The claim says what the numbers say, and what speaks against them."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from gde.data.measure import Measure
from gde.data.probe import Fit
from gde.data.result import Measurement, Result, Subject, UnusableAnswers
from gde.data.trajectory import STATUSES
from gde.data.verdict import Verdict
from gde.reporting.claim import CLASSES, claim, main_report
from gde.reporting.findings import headlines
from gde.reporting.wording import SPACE

MAIN = Fit(probe="cogmap", variant="mlp", layer=3, position="pre")
DRAWN = Verdict(
    control="untrained",
    difference=0.3,
    interval=(0.25, 0.35),
    p=0.0001,
    outcome="better",
    worlds=9,
    draws=19,
    outside=True,
    assumes="normal",
)
SUBJECT = Subject(
    agent="gpt-oss", environment="grid", worlds=23, episodes=24, turns=180
)


def words(text: str) -> str:
    return text.replace(SPACE, " ")


def share(name: str, value: float, low: float, high: float) -> Measurement:
    return Measurement(name=name, value=value, unit="share", n=40, interval=(low, high))


def with_numbers(result: Result, *measurements: Measurement) -> Result:
    return replace(result, measurements=measurements, subject=SUBJECT)


def finds(value: float, fit: Fit = MAIN) -> list[Measurement]:
    """The fit's shares of turns with agent and goal found, give or take 5 %."""
    return [
        Measurement(
            name=name,
            value=value,
            unit="share",
            n=9,
            interval=(value - 0.05, value + 0.05),
            where=fit.where,
            source="cogmap",
        )
        for name in ("cogmap.top1.agent", "cogmap.top1.goal")
    ]


def test_behaviour_is_told_with_intervals(result: Result) -> None:
    measured = share("accuracy", 0.84, 0.8, 0.88), share("success", 0.912, 0.82, 0.97)
    assert words(claim(with_numbers(result, *measured)).behaviour) == (
        "Across 23 grid worlds, the agent gpt-oss reached the goal in 91 % [82, 97] of episodes and took an optimal "
        "action in 84 % [80, 88] of steps, averaged over worlds."
    )


def test_what_was_not_measured_is_not_claimed(result: Result) -> None:
    unknown = Measurement(
        name="accuracy",
        value=None,
        unit="share",
        n=0,
        reason="no certified optimal actions",
    )
    said = claim(
        with_numbers(result, share("success", 0.5, 0.4, 0.6), unknown)
    ).behaviour
    assert "optimal" not in said


def test_a_headline_without_words_of_its_own_is_listed_by_its_title(
    result: Result,
) -> None:
    mine = Measure(name="mine", title="Steps to the left", unit="share", headline=True)
    result = replace(
        with_numbers(result, share("mine", 0.5, 0.4, 0.6)), measures=(mine,)
    )
    assert words(claim(result).behaviour).endswith(
        "the agent gpt-oss: steps to the left 50 % [40, 60]."
    )


def test_numbers_that_are_rivals_are_told_together(result: Result) -> None:
    found = {"row": 0.0, "goal": 3.75, "wall": 0.2}
    rivals = [
        Measurement(
            name="meg.to", value=value, unit="nats", n=9, where={"utility": name}
        )
        for name, value in found.items()
    ]
    said = words(claim(with_numbers(result, *rivals)).behaviour)
    assert "MEG towards goal 3.75 nats, next wall 0.20 nats" in said
    assert "row" not in said


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        (
            DRAWN,
            "(better than random weights by 30.0 points [25.0, 35.0], outside all 19 random initialisations)",
        ),
        (
            replace(DRAWN, draws=7),
            "(better than random weights by 30.0 points [25.0, 35.0], outside all 7 random initialisations, assumed"
            " to be normal)",
        ),
        (
            replace(DRAWN, difference=-0.15, interval=(-0.18, -0.12), outcome="worse"),
            "(worse than random weights by 15.0 points [12.0, 18.0], outside all 19 random initialisations)",
        ),
        (
            replace(
                DRAWN,
                difference=0.05,
                interval=(-0.02, 0.12),
                p=0.2,
                detectable=0.09,
                outcome="none",
                outside=False,
            ),
            "(no difference from random weights shown; detectable: 9.0 points)",
        ),
        (
            Verdict(
                control="untrained",
                difference=0.25,
                worlds=3,
                draws=19,
                reason="3 worlds; a test needs 6",
            ),
            "(not tested against random weights: 3 worlds; a test needs 6)",
        ),
        (None, "(random weights 30.0 % [25.0, 35.0], not tested)"),
    ],
)
def test_the_probe_is_told_beside_its_strongest_control(
    result: Result, verdict: Verdict | None, text: str
) -> None:
    rivals = [
        *finds(0.1, replace(MAIN, control="shuffled")),
        *finds(0.3, replace(MAIN, control="untrained")),
    ]
    rivals = [replace(one, verdict=verdict) for one in rivals]
    said = words(claim(with_numbers(result, *finds(0.6), *rivals)).belief)
    assert said.count(text) == 2
    assert ", p " not in said


@pytest.mark.parametrize(
    ("p", "told"), [(0.004, "p 0.004"), (0.0001, "p < 0.001"), (0.0312, "p 0.031")]
)
def test_a_control_that_is_fitted_once_has_a_p_value(
    result: Result, p: float, told: str
) -> None:
    once = replace(
        DRAWN, control="no_activations", p=p, draws=1, outside=None, assumes=""
    )
    rivals = [
        replace(one, verdict=once)
        for one in finds(0.3, replace(MAIN, control="no_activations"))
    ]
    said = words(claim(with_numbers(result, *finds(0.6), *rivals)).belief)
    text = f"(better than no activations by 30.0 points [25.0, 35.0], {told})"
    assert said.count(text) == 2


def test_another_variant_is_told_where_its_test_has_another_outcome(
    result: Result,
) -> None:
    def of(variant: str, verdict: Verdict) -> list[Measurement]:
        fit = replace(MAIN, variant=variant)
        control = finds(0.3, replace(fit, control="untrained"))
        return [*finds(0.6, fit), *(replace(one, verdict=verdict) for one in control)]

    better = replace(DRAWN, interval=None)
    none = replace(better, difference=0.02, p=0.3, outcome="none", outside=False)
    untested = replace(
        none,
        p=None,
        outcome="untested",
        outside=None,
        reason="3 worlds; a test needs 6",
    )
    numbers = of("mlp", none) + of("bilinear", better)
    numbers += of("ridge", none) + of("linear", untested)
    said = words(claim(with_numbers(result, *numbers)).belief)
    assert said.endswith(
        "in held-out worlds. Variant bilinear, agent found: better than random weights by 30.0 points, outside all 19"
        " random initialisations."
    )


@pytest.mark.parametrize(
    ("better", "best"), [("more", "5.00"), ("less", "1.00"), ("", "3.00")]
)
def test_which_control_is_the_strongest_depends_on_what_is_better(
    result: Result, better: str, best: str
) -> None:
    """Where neither is, the one that comes nearest is told."""
    measure = Measure(name="mine.score", title="Score", better=better, headline=True)  # type: ignore[arg-type]
    values = {"none": 3.2, "shuffled": 1.0, "untrained": 3.0, "no_activations": 5.0}
    fits = {
        name: Fit(probe="mine", variant="mlp", layer=1, position="pre", control=name)
        for name in values
    }  # type: ignore[arg-type]
    numbers = [
        Measurement(
            name="mine.score",
            value=value,
            unit="bits",
            n=9,
            where=fits[name].where,
            source="mine",
        )
        for name, value in values.items()
    ]
    said = words(
        claim(replace(with_numbers(result, *numbers), measures=(measure,))).belief
    )
    assert "reaches score 3.20 bits" in said
    assert f" {best} bits, not tested" in said


def test_a_probe_without_controls_says_so(result: Result) -> None:
    assert "no control was measured" in claim(with_numbers(result, *finds(0.5))).belief


def test_a_probe_that_declares_nothing_is_told_by_its_first_number(
    result: Result,
) -> None:
    where = replace(MAIN, probe="plan").where
    bits = Measurement(
        name="plan.prefix",
        value=1.5,
        unit="bits",
        n=9,
        interval=(1.0, 2.0),
        where=where,
        source="plan",
    )
    assert "reaches plan.prefix 1.50 bits [1.00, 2.00]" in words(
        claim(with_numbers(result, bits)).belief
    )


def test_a_probe_that_measured_nothing_gives_its_reason(result: Result) -> None:
    failed = Measurement(
        name="cogmap",
        value=None,
        unit="",
        n=0,
        where=MAIN.where,
        source="cogmap",
        reason="needs at least 2 worlds",
    )
    said = claim(with_numbers(result, failed)).belief
    assert said == "No probe result: needs at least 2 worlds."


def test_without_probes_nothing_is_said_of_beliefs(result: Result) -> None:
    assert claim(with_numbers(result, share("success", 0.5, 0.4, 0.6))).belief == ""


def test_the_main_fit_is_the_first_whatever_it_scored(result: Result) -> None:
    better = replace(MAIN, layer=5)
    said = words(claim(with_numbers(result, *finds(0.1), *finds(0.9, better))).belief)
    assert "layer 3" in said and "finds the agent in 10.0 %" in said
    assert "90.0 %" not in said
    assert main_report(()) is None


def cautions(result: Result, subject: Subject) -> Sequence[str]:
    return [words(one) for one in claim(replace(result, subject=subject)).cautions]


@pytest.mark.parametrize(
    ("unusable", "begins"),
    [
        (9, "Across 23 grid worlds"),
        (108, "Only 40 % of answers could be read; the others count as wrong. Across"),
    ],
)
def test_a_claim_begins_with_the_answers_that_could_not_be_read(
    result: Result, unusable: int, begins: str
) -> None:
    few = replace(result, subject=replace(SUBJECT, unusable=unusable))
    assert words(claim(few).behaviour).startswith(begins)


def test_cautions_tell_of_failures_unusable_answers_and_few_worlds(
    result: Result,
) -> None:
    assert cautions(result, replace(SUBJECT, failed=1, unusable=7)) == [
        "1 of 24 episodes failed; no number includes them.",
        "7 of 180 answers could not be read and count as wrong.",
    ]
    cut = UnusableAnswers(
        status="truncated", answers=5, example="cut off; raise agent.max_tokens"
    )
    read = UnusableAnswers(status="unparsable", answers=2, example="found none in 'x'")
    classes = replace(SUBJECT, unusable=7, unusable_classes=(cut, read))
    assert cautions(result, classes)[1:] == [
        "5 truncated by the token limit, e.g. cut off; raise agent.max_tokens",
        "2 without a readable action, e.g. found none in 'x'",
    ]
    assert cautions(result, replace(SUBJECT, worlds=4)) == [
        "Fewer than 10 worlds: too few for a conclusion."
    ]


def test_every_class_of_unusable_answers_has_words() -> None:
    assert {"ok", *CLASSES} == {*STATUSES}


def test_the_strict_share_is_a_headline_where_it_differs(result: Result) -> None:
    ok = share("outcomes.ok", 1.0, 0.9, 1.0)
    strict = share("outcomes.strict", 0.6, 0.5, 0.7)

    def shown(*numbers: Measurement) -> list[str]:
        found = headlines(with_numbers(result, *numbers))
        return [one.measure.name for one in found]

    assert shown(ok, strict) == ["outcomes.ok", "outcomes.strict"]
    assert shown(ok, replace(strict, value=1.0)) == ["outcomes.ok"]
    assert shown(ok) == ["outcomes.ok"]


def test_bounds_stand_for_a_headline_without_a_value(result: Result) -> None:
    bound = Measure(name="at_least", title="At least", headline=True, instead="success")
    declared = replace(result, measures=(*result.measures, bound))
    least = share("at_least", 0.4, 0.3, 0.5)
    success = share("success", 0.6, 0.5, 0.7)
    missing = replace(success, value=None, interval=None, reason="not certified")

    def shown(*numbers: Measurement) -> list[str]:
        found = headlines(with_numbers(declared, *numbers))
        return [one.measure.name for one in found]

    assert shown(missing, least) == ["at_least"]
    assert shown(success, least) == ["success", "at_least"]
    assert shown(missing) == ["success"]
    unmeasured = replace(least, value=None, interval=None, reason="no bound")
    assert shown(missing, unmeasured) == ["success", "at_least"]


def test_a_caution_tells_why_numbers_have_no_interval(result: Result) -> None:
    number = Measurement(name="success", value=0.5, unit="share", n=200, clusters=5)
    few = replace(result, measurements=(number,))
    told = ["No interval from fewer than 6 clusters of worlds."]
    assert cautions(few, SUBJECT) == told

    enough = replace(few, measurements=(replace(number, clusters=6),))
    assert cautions(enough, SUBJECT) == []


def test_cautions_tell_what_the_variant_of_a_probe_cannot_do(result: Result) -> None:
    caveat = result.meanings["cogmap.top1.agent"].caveat({"variant": "linear"})
    told = {
        variant: claim(
            with_numbers(result, *finds(0.4, replace(MAIN, variant=variant)))
        ).cautions
        for variant in ("linear", "mlp", "places")
    }
    assert told == {"linear": (caveat,), "mlp": (), "places": ()}
    assert len(caveat) < 155  # fits into two lines of a terminal


def test_points_of_a_curve_do_not_stand_for_the_run(result: Result) -> None:
    numbers = [
        Measurement(
            name="mine", value=0.5, unit="share", n=4, where={"distance": distance}
        )
        for distance in (1, 2, 3)
    ]
    mine = Measure(name="mine", title="Steps to the left")
    said = claim(replace(with_numbers(result, *numbers), measures=(mine,))).behaviour
    assert (
        said
        == "Across 23 grid worlds, the agent gpt-oss ran, but no metric of its behaviour has a value."
    )
