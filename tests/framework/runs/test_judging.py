"""A reward model that is asked beside runs."""

import asyncio
import gc
import pickle
from collections.abc import AsyncGenerator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

import gde
from gde import Catalogue, GdeError, Plan, Transcript, UnknownName, evaluate
from gde.testing.parts import Corridor

STEPS = [("look", "a red block"), ("pick up", "you hold the red block")]
GOAL = "hold the red block"


def shared_words(goal: str, observation: str, action: str) -> float:
    return float(len({*goal.split()} & {*observation.split()}))


async def later(transcript: Transcript) -> list[float]:
    return [float(len(step.action)) for step in transcript.steps]


def test_a_function_is_asked_for_a_trajectory_or_step_by_step() -> None:
    reward = gde.reward_model(shared_words)
    assert reward(GOAL, STEPS).tolist() == [2, 4]
    episode = reward.begin(GOAL)
    assert [episode.step(*step) for step in STEPS] == [2, 4]


def test_it_is_asked_inside_an_event_loop_in_both_ways() -> None:
    reward = gde.reward_model(later)

    async def both() -> None:
        assert (await reward.ask(GOAL, STEPS)).tolist() == [4, 7]
        assert reward(GOAL, STEPS).tolist() == [4, 7]

    asyncio.run(both())


def test_an_agent_asks_it_in_a_run() -> None:
    reward = gde.reward_model(shared_words)

    class Planner:
        def act(self, observation: gde.Observation) -> str:
            values = {
                action: reward("RIGHT", [("", action)])[0]
                for action in observation.actions or ("LEFT", "RIGHT")
            }
            return max(values, key=lambda action: values[action])

    plan = Plan(environment=Corridor, agent=Planner, metrics=["success"], episodes=2)
    assert evaluate(plan).measurements[0].value == 1


def test_the_plan_of_a_run_takes_it_and_its_copies_are_itself() -> None:
    reward = gde.reward_model(shared_words)
    assert deepcopy(reward) is reward
    assert pickle.loads(pickle.dumps(reward))(GOAL, STEPS).tolist() == [2, 4]


def test_rules_of_an_offer_are_asked_with_settings() -> None:
    whole = gde.reward_model("statefactory")(GOAL, STEPS)
    cut = gde.reward_model("statefactory", decimals=1)(GOAL, STEPS)
    assert np.allclose(cut, np.trunc(whole * 10) / 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda transcript: [1.0], "wanted 2 rewards, one a step, got 1"),
        (
            lambda transcript: [1.0, float("nan")],
            "step 1: wanted a finite reward, got nan",
        ),
        (
            lambda transcript: [float("inf"), 0.0],
            "step 0: wanted a finite reward, got inf",
        ),
        (lambda transcript: "prose", "wanted one number a step, got 'prose'"),
        (lambda transcript: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_it_gives_is_checked_and_the_step_named(given: Any, message: str) -> None:
    with pytest.raises(GdeError, match=message):
        gde.reward_model(given)(GOAL, STEPS)


def test_a_reward_model_that_needs_the_truth_is_refused() -> None:
    with pytest.raises(GdeError, match="oracle needs"):
        gde.reward_model("oracle")


def test_an_unknown_kind_of_part_is_named() -> None:
    with pytest.raises(UnknownName, match="Did you mean reward_model"):
        Catalogue.default().find("reward model", "judge")


def test_it_refuses_steps_of_another_form() -> None:
    with pytest.raises(GdeError, match="step 1: wanted an action"):
        gde.reward_model(later)(GOAL, [("a", "b"), "c"])  # type: ignore[list-item]


@pytest.mark.parametrize("dropped", [False, True])
def test_connections_that_it_opened_end_with_it(dropped: bool) -> None:
    told = []

    async def connection() -> AsyncGenerator[float, None]:
        try:
            yield 0.5
        finally:
            told.append("closed")

    held = connection()

    async def rate(goal: str, observation: str, action: str) -> float:
        return await anext(held)

    asked = gde.reward_model(rate)
    assert asked("a goal", [("go", "here")]) == [0.5]
    assert told == []
    if dropped:
        del asked
        gc.collect()
    else:
        asked.close()
    assert told == ["closed"]
