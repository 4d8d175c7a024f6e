"""Stated changes are called when all of their parts are shown, and only then."""

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy.stats import t

from gde_plugins.probes.course.changes import (
    FEWEST,
    Course,
    Read,
    reorganises,
    resampled,
)
from gde_plugins.probes.course.config import (
    ACTION_RISES,
    MAP_FALLS,
    THINGS,
    Change,
    CourseConfig,
)
from gde_plugins.probes.course.events import EVENTS
from gde_plugins.probes.course.sources import FOREIGN, MODEL, TEXT

STATED = CourseConfig().stated
SPLITS = 10
DRAWS = 19
FALLEN = {"before": {"map": 0.9}, "after": {"map": 0.3}}
RISEN = {"before": {"action": 0.3}, "after": {"action": 0.9}}
Shares = Mapping[str, Mapping[str, float]]


def read(shares: Shares, seed: int, n_worlds: int = 90) -> Read:
    """Hits with these shares by event and thing, else of a half, in the third of the worlds
    that a split tests.
    """
    rng = np.random.default_rng(seed)
    chances = np.array(
        [
            [shares.get(event, {}).get(thing, 0.5) for thing in THINGS]
            for event in EVENTS
        ]
    )
    hits = np.full((len(EVENTS), SPLITS, len(THINGS), n_worlds), np.nan)
    order = np.random.default_rng(0)
    for split in range(SPLITS):
        tested = order.permutation(n_worlds)[: n_worlds // 3]
        drawn = rng.random((*chances.shape, len(tested))) < chances[..., None]
        hits[:, split, :, tested] = np.moveaxis(drawn, -1, 0)
    return dict(zip(EVENTS, hits, strict=True))


def course(
    ours: Shares, random: Shares | None = None, n_worlds: int = 90, draws: int = DRAWS
) -> Course:
    """A course of a model with these shares beside random weights with those."""
    none: Shares = {event: {"action": 0.3} for event in EVENTS}
    return Course(
        read={
            MODEL: read(ours, 1, n_worlds),
            TEXT: read(none, 2, n_worlds),
            FOREIGN: read(none, 3, n_worlds),
        },
        random=[read(random or {}, 10 + i, n_worlds) for i in range(draws)],
        n_train=2,
        n_test=1,
    )


def holding(course: Course) -> set[str]:
    return {one.change.text for one in course.judged(STATED) if one.holds}


def test_both_changes_reorganise() -> None:
    both = {event: {**FALLEN[event], **RISEN[event]} for event in FALLEN}
    judged = course(both).judged(STATED)
    assert {one.change.text for one in judged if one.holds} == {MAP_FALLS, ACTION_RISES}
    assert reorganises(judged)


def test_one_change_alone_does_not() -> None:
    for shares, text in ((FALLEN, MAP_FALLS), (RISEN, ACTION_RISES)):
        judged = course(shares).judged(STATED)
        assert {one.change.text for one in judged if one.holds} == {text}
        assert reorganises(judged) is False


def test_nothing_and_the_other_direction_are_no_change() -> None:
    assert not holding(course({}))
    other = {
        "before": {"map": 0.3, "action": 0.9},
        "after": {"map": 0.9, "action": 0.3},
    }
    assert not holding(course(other))


def test_a_fall_that_random_weights_have_too_is_not_called() -> None:
    assert not holding(course(FALLEN, FALLEN))


def test_a_fall_must_lie_outside_of_all_random_weights() -> None:
    whole = course(FALLEN)
    outlier = read({"before": {"map": 0.95}, "after": {"map": 0.2}}, 99)
    (fall, _) = replace(whole, random=[*whole.random * 9, outlier]).judged(STATED)
    assert fall.p is not None
    assert fall.p < 0.05
    assert not fall.holds


@pytest.mark.parametrize("source", [TEXT, FOREIGN])
def test_an_action_that_its_control_has_too_does_not_rise(source: str) -> None:
    whole = course(RISEN)
    controls = {**whole.read, source: whole.read[MODEL]}
    assert holding(whole) == {ACTION_RISES}
    assert not holding(replace(whole, read=controls))


def test_few_worlds_and_few_draws_have_no_verdict() -> None:
    for one in course(FALLEN, n_worlds=FEWEST - 1).judged(STATED):
        assert one.p is None
        assert not one.holds
        assert f"needs {FEWEST}" in one.reason
    judged = course(FALLEN, draws=4).judged(STATED)
    assert all("random initialisations" in one.reason for one in judged)
    assert reorganises(judged) is None


def test_p_values_are_corrected_for_all_that_is_stated() -> None:
    more = [*STATED, Change.of("goal falls"), Change.of("agent falls")]
    few, many = course(FALLEN).judged(STATED), course(FALLEN).judged(more)
    assert few[0].p is not None
    assert many[0].p is not None
    assert many[0].p == pytest.approx(2 * few[0].p)
    assert max(part.p for part in few[0].parts) * 2 == pytest.approx(few[0].p)


def test_a_change_may_be_between_other_events() -> None:
    change = Change.of("action rises from before to move")
    assert change[1:] == ("action", 1, "before", "move")
    shares = {"move": {"action": 0.9}, "before": {"action": 0.3}}
    (judged,) = course(shares).judged([change])
    assert judged.holds
    assert not holding(course(shares))


@pytest.mark.parametrize(
    "text", ["map", "map rises from nowhere to after", "walls fall"]
)
def test_other_statements_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="wanted THING falls"):
        CourseConfig(changes=(text,))


def test_overlapping_splits_widen_the_test() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.2])
    mean, (low, high), p = resampled(values, ratio=0.5)
    error = sqrt((1 / 4 + 0.5) * values.var(ddof=1))
    assert mean == pytest.approx(0.2)
    assert p == pytest.approx(2 * t.sf(0.2 / error, 3))
    assert high - low == pytest.approx(2 * t.ppf(0.975, 3) * error)
    assert resampled(np.zeros(4), 0.5)[2] == 1
