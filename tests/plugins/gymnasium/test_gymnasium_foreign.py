"""Objects that are no environment, and what environments do against their word."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from gde.data.plan import Choice, Plan
from gde.errors import GdeError
from gde.runs.evaluating import evaluate
from gde_plugins.gymnasium import from_gymnasium


class Odd(gymnasium.Env[int, int]):
    """Two actions; the answer to a step is what the test says."""

    observation_space = spaces.Discrete(2)
    action_space = spaces.Discrete(2)
    reward: Any = 1.0
    mask: Any = np.ones(2)

    def reset(self, **_: Any) -> tuple[int, dict[str, Any]]:
        return 0, {}

    def step(self, action: int) -> tuple[int, Any, bool, bool, dict[str, Any]]:
        return 1, self.reward, False, False, {"action_mask": self.mask}


class NoEnvironment:
    pass


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (42, "wanted one environment of Gymnasium, no vector of several, got 42"),
        (None, "got None"),
        (NoEnvironment, "NoEnvironment: wanted a function that makes one environment"),
        (lambda: 3, "got 3"),
        (gymnasium.Env, "Env: wanted discrete actions, got None"),
        (
            lambda: gymnasium.make_vec("CartPole-v1", num_envs=2),
            "got CartPoleVectorEnv",
        ),
        (gymnasium.make_vec("CartPole-v1", num_envs=2), "got CartPoleVectorEnv"),
    ],
)
def test_what_is_no_environment_is_named(given: Any, message: str) -> None:
    with pytest.raises(GdeError, match=message):
        from_gymnasium(given)


def world(choice: Choice) -> Any:
    part = choice.part
    assert part is not None
    return part.make(part.config(**choice.config))  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"reward": np.array([1.0])}, r"Odd: reward: wanted a number, got array"),
        ({"reward": None}, "Odd: reward: wanted a number, got None"),
        ({"mask": [1]}, r"Odd: info\['action_mask'\]: wanted 2 values, got \[1\]"),
        ({"mask": None}, "wanted 2 values, got None"),
    ],
)
def test_a_step_against_its_word_is_named(told: dict[str, Any], message: str) -> None:
    odd = type("Odd", (Odd,), told)
    made = world(from_gymnasium(odd))
    made.reset(0)
    with pytest.raises(ValueError, match=message):
        made.step("0")


def test_a_guessed_success_is_remarked_and_can_be_chosen(tmp_path: Path) -> None:
    pole = from_gymnasium("CartPole-v1", horizon=5)
    result = evaluate(
        Plan(environment=pole, agent=Choice(name="random"), episodes=2),
        tmp_path / "run",
    )
    (remark,) = result.provenance["remarks"]  # type: ignore[misc]
    assert "CartPole-v1: success is taken to be an end with a positive reward" in remark
    assert "env.success=end counts every end, survival no end" in remark
    assert world(from_gymnasium("CliffWalking-v1")).remarks()
    # Its table has an end that earns.
    assert not world(from_gymnasium("FrozenLake-v1")).remarks()

    chosen = world(from_gymnasium("CartPole-v1", success="survival"))
    chosen.reset(0)
    assert (chosen.step("0").success, chosen.remarks()) == (1, ())
    cliff = world(from_gymnasium("CliffWalking-v1", success="end"))
    cliff.reset(0)
    for action in ["0", *["1"] * 11, "2"]:
        outcome = cliff.step(action)
    assert (outcome.success, outcome.terminated) == (1, True)
