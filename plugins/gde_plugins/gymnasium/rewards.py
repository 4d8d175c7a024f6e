"""Rewards to train on, in the place of the environment's own."""

from typing import Literal, Protocol

from gde.data.observation import Observation, Outcome
from gde.parts.environment import Environment
from gde.runs.judging import AskedReward
from gde.stages.judging import Judge, gained

Reward = Literal["environment", "success", "progress"] | AskedReward
"""The environment's own; what a step adds to success, or to the certified value; or what
a reward model gives it.
"""


class StepReward(Protocol):
    """The reward of each step of an episode."""

    def begin(self, shown: Observation) -> None:
        """Begin an episode."""

    def of(self, action: str, outcome: Outcome) -> float:
        """The reward of the step that led to the outcome."""


def step_reward(wanted: Reward, environment: Environment) -> StepReward:
    """The reward of an environment's steps.

    Raises:
        ValueError: there is no such reward.
    """
    if isinstance(wanted, AskedReward):
        return _Judged(wanted, environment)
    if wanted == "success":
        return _Success()
    if wanted == "progress":
        return _Progress(environment)
    if wanted == "environment":
        return _Own()
    raise ValueError(
        f"reward: wanted environment, success, progress or gde.reward_model(...), got {wanted!r}"
    )


class _Own:
    def begin(self, shown: Observation) -> None:
        """Do nothing."""

    def of(self, _: str, outcome: Outcome) -> float:
        return outcome.reward


class _Success:
    def begin(self, _: Observation) -> None:
        self._before = 0.0

    def of(self, _: str, outcome: Outcome) -> float:
        before, self._before = self._before, outcome.success or 0.0
        return self._before - before


class _Progress:
    """What each step gains of the certified value."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._judge = Judge()

    def begin(self, _: Observation) -> None:
        self._before = self._value()

    def of(self, _: str, outcome: Outcome) -> float:
        after = 0.0 if outcome.terminated else self._value()
        before, self._before = self._before, after
        return gained(before, after, outcome.reward)

    def _value(self) -> float:
        optimum = self._judge.moment(self._environment).optimum
        if optimum is None or optimum.value is None:
            raise ValueError(
                "reward=progress: the environment certifies no value here; take success"
            )
        return optimum.value


class _Judged:
    def __init__(self, model: AskedReward, environment: Environment) -> None:
        self._model = model
        self._environment = environment

    def begin(self, shown: Observation) -> None:
        objective = self._environment.task().objective
        self._episode = self._model.begin(objective, start=shown.text)

    def of(self, action: str, outcome: Outcome) -> float:
        return self._episode.step(action, outcome.observation.text)
