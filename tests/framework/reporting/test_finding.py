"""The finding says what the numbers say, at once and within 45 words, and what limits
it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from gde.data.measure import Measure
from gde.data.probe import Control, Fit
from gde.data.result import Measurement, Result, Subject, UnusableAnswers
from gde.data.reward import READS_TRUTH
from gde.data.trajectory import STATUSES
from gde.data.verdict import Outcome, Verdict
from gde.reporting.finding import CLASSES, main_report, opening
from gde.reporting.findings import headlines
from gde.reporting.opening import Opening
from gde.reporting.terminal.screen import screen
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
CHANCE = Measure("references.success.random", "random moves", "share", beside="success")
MOVES = Verdict(control="random moves", difference=0.4, p=0.001, worlds=23)
SUBJECT = Subject(
    agent="gpt-oss", environment="grid", worlds=23, episodes=24, turns=180
)
TOY = "Toy model, trained to show places: nano is no large model."
WORDS = 45
"""The most words of finding and limits together."""
WORD = re.compile(r"[^\W\d]+(?:[-'][^\W\d]+)*")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")


def n_words(text: str) -> int:
    """Its words; numbers and signs are none."""
    return len(WORD.findall(text))


def words(text: str) -> str:
    return text.replace(SPACE, " ")


def share(name: str, value: float | None, **fields: object) -> Measurement:
    return Measurement(name=name, value=value, unit="share", n=40, **fields)  # type: ignore[arg-type]


def of(
    result: Result, *measurements: Measurement, notice: str = "", **about: object
) -> Opening:
    """The opening of a run with these numbers."""
    subject = replace(SUBJECT, **about)  # type: ignore[arg-type]
    sourced = tuple(
        replace(one, source=str(one.name.partition(".")[0])) for one in measurements
    )
    made = replace(
        result,
        measures=(*result.measures, CHANCE),
        measurements=sourced,
        subject=subject,
        provenance={"notice": notice},
        models=(),
    )
    return opening(made)


def said(result: Result, *measurements: Measurement, **about: object) -> str:
    return words(of(result, *measurements, **about).finding)  # type: ignore[arg-type]


def moves(value: float, outcome: Outcome, chance: float = 0.08) -> list[Measurement]:
    """The success of an agent, and that of random moves in the same worlds."""
    verdict = replace(MOVES, outcome=outcome)
    return [
        share("success", value, verdict=verdict),
        share("references.success.random", chance, verdict=verdict),
    ]


def finds(
    ours: float,
    theirs: float | None = None,
    outcome: Outcome = "better",
    fit: Fit = MAIN,
    prefix: str = "early.",
    control: Control = "untrained",
) -> list[Measurement]:
    """Shares of turns with agent and goal found, beside those of a control."""
    numbers = []
    for thing in ("agent", "goal"):
        name = f"cogmap.{prefix}top1.{thing}"
        numbers.append(share(name, ours, where=fit.where))
        if theirs is not None:
            where = replace(fit, control=control).where
            verdict = replace(DRAWN, outcome=outcome, control=control)
            numbers.append(share(name, theirs, where=where, verdict=verdict))
    return numbers


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("better", "gpt-oss reached the goal in 91 % of episodes, better than random moves (8 %)."),
        ("worse", "gpt-oss reached the goal in 91 % of episodes, worse than random moves (8 %)."),
        (
            "none",
            "gpt-oss reached the goal in 91 % of episodes, not shown to differ from random moves (8 %).",
        ),
        (
            "untested",
            "gpt-oss reached the goal in 91 % of episodes, not tested against random moves (8 %).",
        ),
    ],
)  # fmt: skip
def test_behaviour_is_told_beside_random_moves(
    result: Result, outcome: Outcome, told: str
) -> None:
    assert said(result, *moves(0.912, outcome)) == told


def test_a_control_that_is_beaten_gives_way_to_what_activations_say(
    result: Result,
) -> None:
    told = said(result, *moves(0.95, "better"), *finds(0.94, 0.33))
    assert told == (
        "gpt-oss reached the goal in 95 % of episodes. Probes given few worlds find agent and goal before reasoning in"
        " \u2265 94 % of unseen turns (random weights: \u2264 33 %)."
    )
    told = said(result, *moves(0.05, "none"), *finds(0.94, 0.33))
    assert told.startswith(
        "gpt-oss reached the goal in 5 % of episodes, not shown to differ from random moves (8 %). Probes"
    )


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ("none", "no difference is shown"),
        ("worse", "it is worse"),
        ("untested", "not tested"),
    ],
)
def test_a_reader_that_is_not_better_is_not_said_to_be(
    result: Result, outcome: Outcome, told: str
) -> None:
    found = said(result, *finds(0.4, 0.38, outcome))
    assert found.endswith(f"(random weights: \u2264 38 %): {told}.")


def test_of_things_that_differ_those_that_are_found_are_told_and_the_others_limit(
    result: Result,
) -> None:
    agent = finds(0.9, 0.3)[:2]
    goal = finds(0.4, 0.38, "none")[2:]
    walls = [
        Measurement(
            name="cogmap.code.wall",
            value=value,
            unit="bits",
            n=9,
            where=replace(MAIN, control=control).where,  # type: ignore[arg-type]
            verdict=replace(DRAWN, outcome="worse"),
        )
        for value, control in ((0.5, "none"), (0.4, "untrained"))
    ]
    found = of(result, *agent, *goal, *walls)
    assert words(found.finding).endswith(
        "Probes given few worlds find agent before reasoning in 90 % of unseen turns (random weights: 30 %)."
    )
    assert found.limits == (
        "goal found early no better than random weights",
        "wall code length worse",
    )


def test_the_main_job_is_told_in_40_words(result: Result) -> None:
    early = [*moves(0.95, "better"), *finds(0.97, 0.3)]
    late = finds(1.0, 0.98, "none", prefix="")
    walls = [
        replace(one, name="cogmap.code.wall", verdict=replace(DRAWN, outcome="worse"))
        for one in late[:2]
    ]
    numbers = [*early, *late, *walls]
    found = of(result, *numbers, model="nano", worlds=200, notice=TOY)
    assert found.finding.startswith("nano reached the goal")
    assert found.limits == (
        "toy model, trained to show places",
        "given all, no better than random weights",
        "wall code length worse",
    )
    assert n_words(f"{found.finding} {found.limited}") <= 42


def test_without_a_control_there_is_nothing_to_stand_beside(result: Result) -> None:
    assert said(result, *finds(0.9)).endswith(
        "Probes given few worlds find agent and goal before reasoning in \u2265 90 % of unseen turns."
    )


def test_without_early_numbers_the_first_of_all_worlds_is_told(result: Result) -> None:
    told = said(result, *finds(0.6, 0.3, prefix=""))
    assert told.endswith(
        "From its activations before reasoning, a probe finds the agent in 60 % of turns, better than random weights"
        " (30 %)."
    )
    where = replace(MAIN, probe="plan").where
    bits = Measurement(name="plan.prefix", value=1.5, unit="bits", n=9, where=where)
    assert said(result, bits).endswith("a probe reaches plan.prefix 1.50 bits.")


def test_a_probe_that_measured_nothing_gives_its_reason(result: Result) -> None:
    failed = Measurement(
        name="cogmap", value=None, n=0, where=MAIN.where, reason="needs 2 worlds"
    )
    assert said(result, failed).endswith("No probe result: needs 2 worlds.")


def test_another_variant_limits_where_its_test_has_another_outcome(
    result: Result,
) -> None:
    numbers = finds(0.6, 0.3, prefix="")
    others = {"bilinear": "none", "ridge": "better", "linear": "untested"}
    for variant, outcome in others.items():
        fit = replace(MAIN, variant=variant)
        numbers += finds(0.6, 0.3, outcome, fit, prefix="")  # type: ignore[arg-type]
    assert "variant bilinear: agent found none" in of(result, *numbers).limits
    assert not any("ridge" in one for one in of(result, *numbers).limits)


@pytest.mark.parametrize(
    ("better", "best"), [("more", "5.00"), ("less", "1.00"), ("", "3.00")]
)
def test_which_control_is_the_strongest_depends_on_what_is_better(
    result: Result, better: str, best: str
) -> None:
    """Where neither is, the one that comes nearest is told."""
    measure = Measure(name="mine.score", title="Score", better=better, headline=True)  # type: ignore[arg-type]
    values = {"none": 3.2, "shuffled": 1.0, "untrained": 3.0, "no_activations": 5.0}
    numbers = []
    for name, value in values.items():
        fit = Fit(probe="mine", variant="mlp", layer=1, position="pre", control=name)  # type: ignore[arg-type]
        numbers.append(
            Measurement(name="mine.score", value=value, unit="bits", n=9, where=fit.where)
        )  # fmt: skip
    told = said(replace(result, measures=(measure,)), *numbers)
    assert "reaches score 3.20 bits, not tested against" in told
    assert f"({best} bits)" in told


def test_a_headline_without_words_of_its_own_is_told_by_its_title(
    result: Result,
) -> None:
    mine = Measure(name="mine", title="Steps to the left", unit="share", headline=True)
    told = said(replace(result, measures=(mine,)), share("mine", 0.5))
    assert told == "gpt-oss: steps to the left 50 %."


def test_numbers_that_are_rivals_are_told_together(result: Result) -> None:
    found = {"row": 0.0, "goal": 3.75, "wall": 0.2}
    rivals = [
        Measurement(name="meg.to", value=value, unit="nats", n=9, where={"utility": to})
        for to, value in found.items()
    ]
    told = said(result, *rivals)
    assert "MEG towards goal 3.75 nats, next wall 0.20 nats" in told
    assert "row" not in told


def test_a_goal_swap_is_seen(result: Result) -> None:
    plain = [share("success", 0.8), share("success", 0.9, where={"goal_moved": False})]
    moved = share("success", 0.7, where={"goal_moved": True})
    run = replace(
        result,
        measurements=(*plain, moved),
        provenance={**result.provenance, "plan": {"env": {}}},
    )
    shown = screen(run)
    assert "half with the goal moved" in " ".join(shown.header)
    text = " ".join(shown.finding)
    assert "from 70 % (goal moved) to 90 % by condition" in text
    assert "as few as 40 worlds in a condition" in text
    assert "Success rate by condition" in text
    assert "goal moved" not in " ".join(screen(result).header)


def test_reward_models_are_the_subject_and_the_truth_wins_nothing(
    result: Result,
) -> None:
    measure = Measure(
        name="epic", title="EPIC", unit="nats", better="less", contender="reward"
    )
    judged = [
        Measurement(name="epic", value=value, unit="nats", n=9, where={"reward": name})
        for name, value in (("oracle", 0.0), ("clock", 0.5), ("words", 0.4))
    ]
    result = replace(result, measures=(replace(measure, headline=True),))
    assert said(result, *judged).startswith("EPIC: reward oracle 0.00 nats, next words")
    counted = Measurement(
        name="rewards.counted",
        value=9.0,
        unit="count",
        n=9,
        where={"reward": "oracle", "what": READS_TRUTH},
    )
    told = said(result, *judged, counted)
    assert told == "EPIC: reward words 0.40 nats, next clock 0.50 nats."


def test_what_was_not_measured_is_not_claimed(result: Result) -> None:
    unknown = share("success", None, reason="no goal")
    assert said(result, unknown) == "gpt-oss: no metric of its behaviour has a value."
    points = [share("mine", 0.5, where={"distance": far}) for far in (1, 2, 3)]
    assert "has a value" in said(result, *points), "points of a curve are no headline"


def test_the_main_fit_is_the_first_whatever_it_scored(result: Result) -> None:
    better = replace(MAIN, layer=5)
    told = said(result, *finds(0.1, prefix=""), *finds(0.9, fit=better, prefix=""))
    assert "10 %" in told and "90 %" not in told
    assert main_report(()) is None


@pytest.mark.parametrize(
    ("unusable", "begins"),
    [
        (9, "gpt-oss reached"),
        (108, "Only 40 % of answers could be read; the others count as wrong. gpt-oss"),
        (180, "None of its 180 answers was an action. gpt-oss"),
    ],
)
def test_a_finding_begins_with_the_answers_that_could_not_be_read(
    result: Result, unusable: int, begins: str
) -> None:
    told = said(result, *moves(0.4, "better"), unusable=unusable)
    assert told.startswith(begins)


def test_limits_are_told_the_most_damaging_first_and_none_is_left_out(
    result: Result,
) -> None:
    numbers = [
        *moves(0.9, "better"),
        *finds(0.9, 0.3),
        *finds(0.9, 0.8, "none", prefix=""),
    ]
    numbers = [replace(one, source=one.name.partition(".")[0]) for one in numbers]
    subject = replace(SUBJECT, unusable=2, failed=1, worlds=4)
    notice = {"notice": "Toy model, made up: it has no weights. None at all."}
    found = opening(
        replace(result, measurements=tuple(numbers), subject=subject, provenance=notice)
    )  # fmt: skip
    assert found.limits == (
        "2 of 180 answers unusable",
        "1 of 24 episodes failed",
        "toy model, made up",
        "given all, no better than random weights",
        "too few worlds for a conclusion: 4",
    )
    assert found.limited == f"Limits: {'; '.join(found.limits)}."


KINDS = [*product((0.02, 0.5, 1.0), ("better", "none", "worse"), (0, 5, 90, 180), (4, 23))]  # fmt: skip


@pytest.mark.parametrize(("value", "outcome", "unusable", "worlds"), KINDS)
def test_every_kind_of_run_is_told_in_45_words_and_few_numbers(
    result: Result, value: float, outcome: Outcome, unusable: int, worlds: int
) -> None:
    for numbers in (
        moves(value, outcome),
        [*moves(value, outcome), *finds(value, 0.3, outcome)],
        [*moves(value, outcome), *finds(value, 0.3, outcome, prefix="")],
    ):
        found = of(result, *numbers, unusable=unusable, worlds=worlds, failed=1)
        if unusable <= 5 and outcome == "better":
            assert n_words(f"{found.finding} {found.limited}") <= WORDS + 3
            assert len(NUMBER.findall(words(found.finding))) <= 3
        assert "nan" not in found.finding.lower()


def notes(result: Result, subject: Subject) -> Sequence[str]:
    return [words(one) for one in opening(replace(result, subject=subject)).notes]


def test_notes_tell_of_failures_unusable_answers_and_few_worlds(
    result: Result,
) -> None:
    assert notes(result, replace(SUBJECT, failed=1, unusable=7)) == [
        "1 of 24 episodes failed; no number includes them.",
        "7 of 180 answers could not be read and count as wrong.",
    ]
    # The finding begins with more.
    assert notes(result, replace(SUBJECT, unusable=90)) == []
    cut = UnusableAnswers(
        status="truncated", answers=5, example="cut off; raise agent.max_tokens"
    )
    read = UnusableAnswers(status="unparsable", answers=2, example="found none in 'x'")
    classes = replace(SUBJECT, unusable=7, unusable_classes=(cut, read))
    assert notes(result, classes)[1:] == [
        "5 truncated by the token limit, e.g. cut off; raise agent.max_tokens",
        "2 without a readable action, e.g. found none in 'x'",
    ]


def test_every_class_of_unusable_answers_has_words() -> None:
    assert {"ok", *CLASSES} == {*STATUSES}


def test_the_strict_share_is_a_headline_where_it_differs(result: Result) -> None:
    ok, strict = share("outcomes.ok", 1.0), share("outcomes.strict", 0.6)

    def shown(*numbers: Measurement) -> list[str]:
        found = headlines(replace(result, measurements=numbers))
        return [one.measure.name for one in found]

    assert shown(ok, strict) == ["outcomes.ok", "outcomes.strict"]
    assert shown(ok, replace(strict, value=1.0)) == ["outcomes.ok"]
    assert shown(ok) == ["outcomes.ok"]


def test_bounds_stand_for_a_headline_without_a_value(result: Result) -> None:
    bound = Measure(name="at_least", title="At least", headline=True, instead="success")
    declared = replace(result, measures=(*result.measures, bound))
    least, success = share("at_least", 0.4), share("success", 0.6)
    missing = replace(success, value=None, reason="not certified")

    def shown(*numbers: Measurement) -> list[str]:
        found = headlines(replace(declared, measurements=numbers))
        return [one.measure.name for one in found]

    assert shown(missing, least) == ["at_least"]
    assert shown(success, least) == ["success"]
    assert shown(missing) == ["success"]
    unmeasured = replace(least, value=None, reason="no bound")
    assert shown(missing, unmeasured) == ["success", "at_least"]


def test_a_note_tells_why_numbers_have_no_interval(result: Result) -> None:
    number = Measurement(name="success", value=0.5, unit="share", n=200, clusters=5)
    few = replace(result, measurements=(number,))
    told = ["No interval from fewer than 6 clusters of worlds."]
    assert notes(few, SUBJECT) == told

    enough = replace(few, measurements=(replace(number, clusters=6),))
    assert notes(enough, SUBJECT) == []


def test_notes_tell_what_the_variant_of_a_probe_cannot_do(result: Result) -> None:
    caveat = result.meanings["cogmap.top1.agent"].caveat({"variant": "linear"})
    told = {
        variant: of(result, *finds(0.4, fit=replace(MAIN, variant=variant))).notes
        for variant in ("linear", "mlp", "places")
    }
    assert told == {"linear": (caveat,), "mlp": (), "places": ()}
    assert len(caveat) < 155  # fits into two lines of a terminal


def test_an_agent_with_few_usable_answers_is_not_judged(result: Result) -> None:
    assert "random moves" in said(result, *moves(0.4, "worse"), unusable=9)
    assert "random moves" not in said(result, *moves(0.4, "worse"), unusable=19)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((0.6, 1.0), "in 80 % of episodes, from 60 % (size 7) to 100 % by condition."),
        ((0.8, 0.8), "in 80 % of episodes in each of 2 conditions, better than random moves (8 %)."),
    ],
)  # fmt: skip
def test_a_sweep_tells_its_worst_condition(
    result: Result, values: tuple[float, float], told: str
) -> None:
    swept = [
        share("success", each, where={"size": size})
        for each, size in zip(values, (7, 9), strict=True)
    ]
    made = replace(
        result,
        measures=(*result.measures, CHANCE),
        measurements=(*moves(0.8, "better"), *swept),
        subject=SUBJECT,
        provenance={"plan": {"env": {"use": "grid", "size": [7, 9]}}},
        models=(),
    )
    assert words(opening(made).finding).endswith(told)
