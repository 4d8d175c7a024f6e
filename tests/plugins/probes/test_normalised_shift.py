"""The normalised shift is 1 for a change that brings about the counterfactual's
actions, negative for others.
"""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from gde.data.completion import ChatRequest, Completion, Message
from gde.data.result import Measurement
from gde.testing.parts import LEFT, RIGHT, PlantedModel
from gde_plugins.probes.causes.cases import Case, Change
from gde_plugins.probes.causes.effects import Replays, causal_effects
from gde_plugins.probes.causes.interventions import Where, steer
from gde_plugins.probes.causes.normalised_shift import (
    NO_SHIFT,
    distances,
    normalised_shift,
)

N, LED = 10, 6
"""Of ten turns, the first six have a counterfactual to which the answer is another."""
MODEL = PlantedModel(
    script=lambda request: (
        LEFT if request.messages[0].content.startswith("counterfactual") else RIGHT
    )
)


def asked(text: str, i: int) -> ChatRequest:
    return ChatRequest(
        messages=(Message(role="user", content=f"{text} #A{'_' * i}G#"),), seed=i
    )


CASES = [
    Case(request=asked("own", i), world=f"world {i}", predicted=frozenset({LEFT}))
    for i in range(N)
]
COUNTERFACTUALS = [asked("counterfactual" if i < LED else "like", i) for i in range(N)]


def steered(*doses: float) -> Change:
    """By a dose in each case; from 2 on it turns the answer."""
    interventions = tuple(steer(Where(layer=0), MODEL.turning, dose) for dose in doses)
    return Change(name=f"steering {doses}", layer=0, interventions=interventions)


async def said(_: Case, answer: Completion) -> str | None:
    return answer.text


def found(
    *changes: Change, counterfactuals: Sequence[ChatRequest] = COUNTERFACTUALS
) -> list[Measurement]:
    rng = np.random.default_rng(0)
    replays = Replays(
        model=MODEL, cases=CASES, read=said, counterfactuals=counterfactuals
    )
    return asyncio.run(causal_effects(replays, changes, rng))


def shifts(
    *changes: Change, counterfactuals: Sequence[ChatRequest] = COUNTERFACTUALS
) -> list[Measurement]:
    return [
        one
        for one in found(*changes, counterfactuals=counterfactuals)
        if one.name == "normalised_shift"
    ]


def test_the_shift_is_the_share_of_the_distance_to_the_counterfactuals_answers() -> (
    None
):
    whole, half, none, beyond = shifts(
        steered(*[2.0] * LED, *[0.5] * (N - LED)),
        steered(*[2.0] * (LED // 2), *[0.5] * (N - LED // 2)),
        steered(*[0.5] * N),
        steered(*[2.0] * N),
    )
    assert (whole.value, half.value, none.value) == (1, 0.5, 0)
    assert beyond.value == pytest.approx((LED - (N - LED)) / LED)
    for one in (whole, half, none, beyond):
        assert one.interval is not None and one.interval[0] < one.interval[1]
        assert one.interval[0] <= (one.value or 0) <= one.interval[1]
        assert one.n == N


def test_answers_beyond_the_counterfactuals_are_an_effect_all_the_same() -> None:
    """`effect` asks for the predicted actions, whatever the agent would have done on
    the counterfactual's own prompt.
    """
    (effect,) = [
        one.value for one in found(steered(*[2.0] * N)) if one.name == "effect"
    ]
    assert effect == 1


def test_without_a_distance_or_a_change_there_is_a_reason() -> None:
    turned, nothing = steered(*[2.0] * N), steered(*[0.0] * N)
    (one,) = shifts(turned, counterfactuals=[case.request for case in CASES])
    assert (one.value, one.reason) == (None, NO_SHIFT)
    (one,) = shifts(nothing)
    assert one.value is None and "changed nothing in the forward pass" in one.reason
    prompt = Change(name="prompt", layer=-1, instead=tuple(COUNTERFACTUALS))
    assert not shifts(turned, counterfactuals=()) and not shifts(prompt)


def test_what_else_is_found_is_the_same_without_counterfactuals() -> None:
    change = steered(*[2.0] * LED, *[0.5] * (N - LED))
    assert [one for one in found(change) if one.name != "normalised_shift"] == found(
        change, counterfactuals=()
    )


def test_distances_are_half_of_what_the_shares_differ_by() -> None:
    rng = np.random.default_rng(0)
    outcomes: list[str | None] = ["UP", "DOWN", "LEFT", None]
    one, other = (
        [[outcomes[i] for i in rng.integers(4, size=5)] for _ in range(40)]
        for _ in range(2)
    )
    halves = [
        sum(abs(here.count(each) - there.count(each)) for each in outcomes) / 10
        for here, there in zip(one, other, strict=True)
    ]
    assert distances(one, other) == pytest.approx(halves)
    assert (distances(one, other) == distances(other, one)).all()
    assert not distances(one, [[*reversed(each)] for each in one]).any()


def test_samples_make_a_part_of_the_shift() -> None:
    before, counterfactuals = [["UP"] * 4] * 3, [["DOWN"] * 4] * 3
    after = [
        ["UP", "UP", "UP", "DOWN"],
        ["UP", "UP", "DOWN", "DOWN"],
        ["LEFT", "LEFT", "DOWN", None],
    ]
    found = normalised_shift(
        before, after, counterfactuals, ["a", "b", "c"], np.random.default_rng(0)
    )
    assert found.value == pytest.approx((1 + 2 + 1) / 12)
