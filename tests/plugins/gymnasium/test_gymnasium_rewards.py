"""Rewards to train on under Gymnasium."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import gde
from gde_plugins.gymnasium import GymEnvironment


def walked(reward: Any) -> tuple[list[float], list[float]]:
    """The rewards and successes of an optimal walk in one world."""
    made = gymnasium.make("gde/Grid-v0", size=7, density=0.0, reward=reward)
    environment = made.unwrapped
    assert isinstance(environment, GymEnvironment)
    environment.reset(seed=3)
    rewards, successes, over = [], [], False
    while not over:
        optimal = best(environment)
        action = np.int64(environment.actions.index(optimal))
        _, paid, ended, cut, info = environment.step(action)
        rewards.append(paid)
        successes.append(info["success"])
        over = ended or cut
    return rewards, successes


def best(environment: GymEnvironment) -> str:
    from gde.stages.judging import Judge

    optimum = Judge().moment(environment.environment).optimum
    assert optimum is not None
    return optimum.actions[0]


def test_success_is_paid_once() -> None:
    rewards, successes = walked("success")
    assert rewards == [*np.diff([0.0, *successes])]
    assert sum(rewards) == 1


def test_progress_pays_alike_for_every_step_of_a_shortest_way() -> None:
    rewards, successes = walked("progress")
    assert successes[-1] == 1
    assert len(rewards) > 2 and set(rewards) == {1.0}


def test_a_reward_model_is_shown_objective_action_and_observation() -> None:
    shown: list[tuple[str, str, str]] = []

    def judge(goal: str, observation: str, action: str) -> float:
        shown.append((goal, observation, action))
        return 0.5

    rewards, _ = walked(gde.reward_model(judge))
    assert set(rewards) == {0.5}
    goal, observation, action = shown[0]
    assert (
        "goal" in goal
        and "A" in observation
        and action in ("UP", "DOWN", "LEFT", "RIGHT")
    )


def test_another_reward_is_refused() -> None:
    with pytest.raises(ValueError, match="reward: wanted environment, success"):
        walked("nope")
