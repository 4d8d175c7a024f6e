"""Reward models, which judge the progress of a trajectory."""

from typing import Protocol, runtime_checkable

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory


@runtime_checkable
class RewardModel(Protocol):
    """Predicts one reward a turn; may keep a state from turn to turn within a call."""

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        """The predicted rewards of one trajectory, or the reason why there are none."""
