"""Rewards that follow from the length of an episode, from chance or from the truth."""

import asyncio
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import pytest

from gde.data.observation import Observation
from gde.data.reward import Rewards
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.request.settings import build
from gde.testing import check_reward_model, check_truth_reader, is_causal
from gde.testing.context import PlainContext
from gde.testing.samples import sample_evidence
from gde_plugins.reward_baselines.config import ConstantConfig
from gde_plugins.reward_baselines.models import (
    Clock,
    Constant,
    Monotonic,
    Oracle,
    Random,
    Unrepeated,
    no_progress,
    progress,
)
from gde_plugins.reward_baselines.plugin import gde_reward_models

OFFERS = {offer.name: offer for offer in gde_reward_models()}
STRAIGHT, DETOUR, NEVER = [one for one in sample_evidence(3).trajectories if one.turns]


def valued(*values: float | None) -> Trajectory:
    """An episode whose turns have these values."""
    turns = [
        replace(STRAIGHT.turns[0], index=i, value=value)
        for i, value in enumerate(values)
    ]
    return replace(STRAIGHT, turns=tuple(turns))


def judged(
    model: Clock | Monotonic | Constant | Random | Oracle, one: Trajectory
) -> Rewards:
    if isinstance(model, Oracle):
        return asyncio.run(model.true_rewards(one))
    return asyncio.run(model.rewards(Transcript.of(one)))


@pytest.mark.parametrize("name", OFFERS)
def test_the_offers_keep_the_contract_and_one_alone_reads_ahead(name: str) -> None:
    offer = OFFERS[name]

    def make() -> Any:
        return offer.made(build(offer.config, {}, name), PlainContext())

    if name == "oracle":
        check_truth_reader(make)
        return
    check_reward_model(make)
    assert is_causal(make) == (name != "monotonic")


def test_time_equals_progress() -> None:
    assert judged(Monotonic(), valued(-1, -1, -5, None)).values.tolist() == [
        0.25,
        0.5,
        0.75,
        1.0,
    ]
    assert judged(Monotonic(), replace(STRAIGHT, turns=())).values.shape == (0,)


def test_the_clock_does_not_know_how_long_an_episode_is() -> None:
    assert judged(Clock(), valued(-1, -1, -5, None)).values.tolist() == [1, 2, 3, 4]
    assert judged(Clock(), replace(STRAIGHT, turns=())).values.shape == (0,)


def test_what_is_seen_again_begins_anew() -> None:
    turns = tuple(
        replace(STRAIGHT.turns[0], index=i, observation=Observation(text=x))
        for i, x in enumerate("aabca")
    )
    one = Transcript.of(replace(STRAIGHT, turns=turns))
    found = asyncio.run(Unrepeated().rewards(one))
    assert found.values.tolist() == [1, 0, 1, 2, 0]
    assert asyncio.run(Unrepeated().rewards(one.until(0))).values.shape == (0,)


def test_a_constant_is_one_number() -> None:
    assert (
        judged(Constant(ConstantConfig(value=-0.5)), valued(-3, -2, -1)).values.tolist()
        == [-0.5] * 3
    )


def test_chance_is_a_function_of_seed_and_history() -> None:
    first, again = (judged(Random(3), DETOUR).values for _ in range(2))
    assert first.tolist() == again.tolist()
    assert len({*first}) == len(DETOUR.turns)
    assert ((first >= 0) & (first < 1)).all()
    assert first.tolist() != judged(Random(4), DETOUR).values.tolist()
    named = replace(DETOUR, key=replace(DETOUR.key, repeat=1))
    assert first.tolist() == judged(Random(3), named).values.tolist()
    other = replace(DETOUR, turns=(STRAIGHT.turns[-1], *DETOUR.turns[1:]))
    assert not {*first} & {*judged(Random(3), other).values}


def test_the_oracle_is_linear_along_an_optimal_episode() -> None:
    values = judged(Oracle(), STRAIGHT).values
    assert values[0] == 0
    assert np.allclose(np.diff(values), 1 / len(values))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((-4, -2, -1), [0, 0.5, 0.75]),
        ((-4, -8, -4, -2), [0, 0, 0, 0.5]),
        ((-4, -2, -inf), [0, 0.5, 0]),
        ((-4, 0), [0, 1]),
        ((-4, 3), [0, 1]),
    ],
    ids=["nearer", "further away first", "out of reach", "there", "past it"],
)
def test_progress_is_the_share_of_the_cost_that_is_behind(
    values: tuple[float, ...], expected: list[float]
) -> None:
    assert progress(valued(*values)).tolist() == expected
    assert judged(Oracle(), valued(*values)).values.tolist() == expected


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (replace(STRAIGHT, turns=()), "the episode has no turns"),
        (valued(-2, None, -1, None), "2 of 4 turns have no certified value"),
        (
            valued(0, 0),
            "wanted a first turn from which the goal has a cost, i.e. a finite value below 0; got 0",
        ),
        (valued(5.5), "a finite value below 0; got 5.5"),
        (valued(-inf, -inf), "a finite value below 0; got -inf"),
    ],
)
def test_where_there_is_no_truth_the_oracle_says_why(
    one: Trajectory, reason: str
) -> None:
    assert reason in no_progress(one)
    found = judged(Oracle(), one)
    assert (found.failure, found.values.shape) == (no_progress(one), (0,))
    with pytest.raises(ValueError, match=no_progress(one).split(";")[0]):
        progress(one)
