"""Reward models, which judge the progress of an episode."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from gde.data.reward import Rewards, RewardTrace
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript
from gde.parts.awaiting import settled


@runtime_checkable
class RewardModel(Protocol):
    """Predicts one reward a step; may keep a state from step to step within a call."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        """The predicted rewards of one episode, or the reason why there are none."""


def given(found: object) -> Rewards:
    """The rewards that a reward model has given.

    Raises:
        TypeError: it has given something else.
    """
    if not isinstance(found, Rewards):
        raise TypeError(f"wanted gde.Rewards, got {found!r}")
    return found


@runtime_checkable
class TruthReader(Protocol):
    """Gives rewards that are made from the truth, such as an upper bound.

    Its offer declares the need TRUE_REWARD, and every report says so.
    """

    async def true_rewards(self, trajectory: Trajectory) -> Rewards:
        """The rewards of one episode, or the reason why there are none."""


class RewardSource(Protocol):
    """A reward model as other parts ask it; it is shown the transcript alone."""

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        """The rewards of an episode, or the reason why there are none."""


@dataclass(frozen=True)
class StepReward:
    """A function of goal, observation and action, sync or async, as a reward model.

    The reward of a step values its observation, which its action led to.
    """

    function: Callable[..., Any]

    async def rewards(self, transcript: Transcript) -> Rewards:
        values = []
        for step in transcript.steps:
            value = self.function(
                goal=transcript.objective,
                observation=step.observation,
                action=step.action,
            )
            values.append(await settled(value))
        return Rewards(values=np.array(values))


@dataclass(frozen=True)
class TranscriptReward:
    """A function of the transcript, sync or async, as a reward model.

    It gives `Rewards`, or one number a step in any sequence.
    """

    function: Callable[[Transcript], Any]

    async def rewards(self, transcript: Transcript) -> Rewards:
        found = await settled(self.function(transcript))
        return found if isinstance(found, Rewards) else Rewards(values=found)
