"""Reward models, which judge the progress of an episode."""

from typing import Protocol, runtime_checkable

from gde.data.reward import Rewards, RewardTrace
from gde.data.trajectory import Trajectory
from gde.data.transcript import Transcript


@runtime_checkable
class RewardModel(Protocol):
    """Predicts one reward a step; may keep a state from step to step within a call."""

    async def rewards(self, transcript: Transcript) -> Rewards:
        """The predicted rewards of one episode, or the reason why there are none."""


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
