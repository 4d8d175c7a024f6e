"""What can be read from activations: the sentences have the numbers of the result and
what their tests say, and nothing else.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from gde.data.measure import Measure
from gde.data.probe import Control, Fit
from gde.data.result import Measurement, Result
from gde.data.verdict import Verdict
from gde.reporting.claim import claim
from gde.reporting.findings import Beside, Probed, probed
from gde.reporting.reading import reading
from gde.reporting.wording import SPACE

FIT = Fit(probe="cogmap", variant="places", layer=3, position="pre")
CALLED = Verdict(
    control="untrained",
    difference=0.7,
    interval=(0.6, 0.8),
    p=0.0001,
    outcome="better",
    worlds=42,
    draws=19,
    outside=True,
    assumes="normal",
)
NOT_CALLED = replace(CALLED, outcome="none", p=0.3, outside=False)
NORMAL_ALONE = replace(CALLED, outcome="none", p=0.01, outside=False)
"""The test that takes draws to be normal calls it, but some draw reaches it."""
WORSE = replace(CALLED, outcome="worse", difference=-0.2, interval=(-0.3, -0.1))
UNTESTED = replace(
    CALLED,
    interval=None,
    p=None,
    outcome="untested",
    outside=None,
    reason="a verdict needs 5 random initialisations, got 3",
)
ONCE = replace(
    CALLED, control="no_activations", p=0.004, draws=1, outside=None, assumes=""
)
OUTSIDE = "outside all 19 random initialisations"


def beside(
    name: str,
    ours: float,
    theirs: float,
    verdict: Verdict | None = CALLED,
    control: Control = "untrained",
) -> Beside:
    """A number of the probe beside that of its strongest control."""
    whole = f"cogmap.{name}"
    unit = "bits" if name.startswith("code.") else "share"
    measured = Measurement(name=whole, value=ours, unit=unit, n=42, where=FIT.where)
    fit = replace(FIT, control=control)
    rival = replace(measured, value=theirs, where=fit.where, verdict=verdict)
    measure = Measure(name=whole, title=name, unit=unit, headline=True)
    return Beside(measure=measure, ours=measured, fit=fit, rival=rival)


def found(*changed: Beside, early_worlds: int = 35) -> Probed:
    """What was read of a model, with some other numbers."""
    numbers = {
        one.measure.name: one
        for one in (
            beside("top1.agent", 0.999, 0.92, NOT_CALLED),
            beside("top1.goal", 0.98, 0.951, NOT_CALLED),
            beside("early.top1.agent", 0.991, 0.24),
            beside("early.top1.goal", 0.966, 0.279),
        )
    }
    for one in changed:
        numbers[one.measure.name] = one
    return Probed(fit=FIT, numbers=tuple(numbers.values()), early_worlds=early_worlds)


def said(probe: Probed) -> list[str]:
    return [one.replace(SPACE, " ") for one in reading(probe)]


def both(verdict: Verdict | None) -> Probed:
    """Agent and goal have this outcome early."""
    return found(
        beside("early.top1.agent", 0.991, 0.24, verdict),
        beside("early.top1.goal", 0.966, 0.279, verdict),
    )


def test_all_that_is_called_is_told_once() -> None:
    assert said(found()) == [
        "Before reasoning, agent and goal can be read at layer 3 in 100 and 98 % of"
        " held-out turns; from random weights in 92 and 95 %"
        " (no difference shown).",
        f"A reader shown 35 worlds: 99 and 97 against 24 and 28 % ({OUTSIDE}).",
    ]


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (NOT_CALLED, "no difference shown"),
        (NORMAL_ALONE, "no difference shown"),
        (WORSE, f"worse, {OUTSIDE}"),
        (
            replace(CALLED, draws=7),
            "outside all 7 random initialisations, assumed to be normal",
        ),
        (
            replace(WORSE, draws=7),
            "worse, outside all 7 random initialisations, assumed to be normal",
        ),
        (UNTESTED, "not tested: a verdict needs 5 random initialisations, got 3"),
        (
            replace(UNTESTED, reason="4 worlds; a test needs 6"),
            "not tested: 4 worlds; a test needs 6",
        ),
        (None, "no control was tested"),
    ],
)
def test_an_outcome_that_agent_and_goal_share_is_told_once(
    verdict: Verdict | None, told: str
) -> None:
    """And its p value is not: it rests on draws of which few are known."""
    _, early = said(both(verdict))
    assert early == f"A reader shown 35 worlds: 99 and 97 against 24 and 28 % ({told})."


def test_outcomes_that_differ_are_told_of_each() -> None:
    _, early = said(found(beside("early.top1.goal", 0.3, 0.279, NOT_CALLED)))
    assert early == (
        "A reader shown 35 worlds: 99 and 30 against 24 and 28 %"
        f" (agent: {OUTSIDE}; goal: no difference shown)."
    )
    _, early = said(
        found(
            beside("early.top1.agent", 0.1, 0.24, WORSE),
            beside("early.top1.goal", 0.3, 0.279, UNTESTED),
        )
    )
    assert early.endswith(
        f"(agent: worse, {OUTSIDE};"
        " goal: not tested: a verdict needs 5 random initialisations, got 3)."
    )


def test_one_thing_and_three_are_listed() -> None:
    whole = beside("top1.key", 0.5, 0.4, NOT_CALLED)
    early = beside("early.top1.key", 0.25, 0.13)
    assert said(Probed(fit=FIT, numbers=(whole, early), early_worlds=8)) == [
        "Before reasoning, key can be read at layer 3 in 50 % of held-out turns; from"
        " random weights in 40 % (no difference shown).",
        f"A reader shown 8 worlds: 25 against 13 % ({OUTSIDE}).",
    ]
    first, second = said(found(whole, early))
    assert "agent, goal and key can be read at layer 3 in 100, 98 and 50 %" in first
    assert "99, 97 and 25 against 24, 28 and 13 %" in second


@pytest.mark.parametrize(
    ("position", "told"),
    [
        ("pre", "Before reasoning, agent"),
        ("post", "After reasoning, agent"),
        ("reasoning", "While reasoning, agent"),
        ("last", "Last, agent"),
    ],
)
def test_the_place_is_told(position: str, told: str) -> None:
    fit = replace(FIT, position=position, layer=11)
    first, _ = said(replace(found(), fit=fit))
    assert first.startswith(told) and " at layer 11 in " in first


def test_a_strongest_control_that_is_not_random_weights_is_named() -> None:
    """Also where it is another one for an early reader, or for one of the things."""
    first, second = said(
        found(
            beside("top1.agent", 0.999, 0.2, ONCE, "no_activations"),
            beside("top1.goal", 0.98, 0.3, ONCE, "no_activations"),
        )
    )
    assert first.endswith("; from no activations in 20 and 30 % (p 0.004).")
    assert second.endswith(f"({OUTSIDE}).")

    first, second = said(found(beside("top1.goal", 0.98, 0.3, ONCE, "no_activations")))
    assert "; from random weights and no activations in 92 and 30 % (" in first
    assert first.endswith("(agent: no difference shown; goal: p 0.004).")

    first, second = said(
        found(
            beside("early.top1.agent", 0.991, 0.24, ONCE, "no_activations"),
            beside("early.top1.goal", 0.966, 0.279, ONCE, "no_activations"),
        )
    )
    assert first.endswith("; from random weights in 92 and 95 % (no difference shown).")
    assert "p 0.004" in second
    assert "no activations" in second


def test_without_a_control_there_is_nothing_to_stand_beside() -> None:
    """As where a run was interrupted before its controls were fitted."""
    alone = tuple(replace(one, fit=None, rival=None) for one in found().numbers)
    first, second = said(Probed(fit=FIT, numbers=alone, early_worlds=35))
    assert first.endswith("can be read at layer 3 in 100 and 98 % of held-out turns.")
    assert "99 and 97" in second and "against" not in second


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        (
            replace(CALLED, difference=-0.2),
            ["Walls are read better than from random weights."],
        ),
        (
            replace(WORSE, difference=0.1),
            ["Walls are read worse than from random weights."],
        ),
        (NOT_CALLED, []),
        (UNTESTED, []),
        (None, []),
    ],
)
def test_walls_are_told_where_their_test_says_anything(
    verdict: Verdict | None, told: list[str]
) -> None:
    _, _, *others = said(found(beside("code.wall", 0.3, 0.5, verdict)))
    assert others == told
    alone = replace(beside("code.wall", 0.3, 0.5), fit=None, rival=None)
    assert len(said(found(alone))) == 2


def test_without_early_numbers_there_are_no_sentences() -> None:
    late = tuple(one for one in found().numbers if ".early." not in one.measure.name)
    walls = beside("code.wall", 0.3, 0.5)
    assert reading(Probed(fit=FIT, numbers=late)) == []
    assert reading(Probed(fit=FIT, numbers=(*late, walls))) == []
    assert reading(Probed(fit=FIT, numbers=())) == []


DRAWS = 19
"""Initialisations of the example's random weights."""


def of_result(result: Result) -> str:
    return claim(result).belief.replace(SPACE, " ")


def test_a_claim_without_early_numbers_tells_those_of_all_worlds(
    result: Result,
) -> None:
    """As a run has with too few worlds, or without learning."""
    kept = tuple(one for one in result.measurements if ".early." not in one.name)
    told = of_result(replace(result, measurements=kept))
    assert told == (
        "From its activations before reasoning, a probe (places, layer 3) finds the"
        " agent in 49.4 % [44.4, 54.3] of turns (better than random weights by 29.9"
        f" points [22.5, 37.3], {OUTSIDE}) and the goal in 43.2 % [38.9, 47.5] of turns"
        f" (better than random weights by 26.1 points [19.7, 32.6], {OUTSIDE}), in"
        " held-out worlds."
    )


def test_the_claim_has_exactly_the_numbers_of_the_result(result: Result) -> None:
    told = of_result(result)
    assert told == (
        "Before reasoning, agent and goal can be read at layer 3 in 49 and 43 % of"
        " held-out turns; from random weights in 20 and 17 %"
        f" ({OUTSIDE}). A reader shown 8 worlds:"
        f" 37 and 31 against 15 and 12 % ({OUTSIDE}). Walls"
        " are read better than from random weights."
    )
    main, *_ = probed(result)
    values: Mapping[tuple[str, Control], float] = {
        (one.name.removeprefix("cogmap."), fit.control): one.value or 0.0
        for one in result.measurements
        if (fit := Fit.of(one)) is not None
        and replace(fit, control="none") == main.fit
        and one.where.keys() == fit.where.keys()
    }
    numbers = [float(main.fit.layer)]
    for early in ("", "early."):
        if early:
            numbers.append(values["early.worlds", "none"])
        for control in ("none", "untrained"):
            for thing in ("agent", "goal"):
                share = values[f"{early}top1.{thing}", control]  # type: ignore[index]
                numbers.append(round(100 * share))
        numbers.append(float(DRAWS))
    assert [float(one) for one in re.findall(r"\d+(?:\.\d+)?", told)] == numbers


def test_code_lengths_and_distances_that_are_no_headlines_are_not_told(
    result: Result,
) -> None:
    main, *_ = probed(result)
    others = []
    for name in ("code.agent", "guess.wall", "curve.top1.agent", "distance.agent"):
        other = beside(name, 0.123, 0.456)
        assert other.rival is not None
        others += [other.ours, other.rival]
    more = replace(result, measurements=(*others, *result.measurements))
    assert probed(more)[0].numbers == main.numbers
    assert of_result(more) == of_result(result)


def test_numbers_of_conditions_and_of_other_fits_are_not_told(result: Result) -> None:
    """Whichever come first."""
    reordered = tuple(
        sorted(
            result.measurements,
            key=lambda one: (Fit.of(one) != probed(result)[0].fit, -len(one.where)),
        )
    )
    assert len(reordered) == len(result.measurements)
    assert of_result(replace(result, measurements=reordered)) == of_result(result)
