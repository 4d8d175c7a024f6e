"""What every reward model promises (`gde.parts.reward_model`)."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.parts.reward_model import RewardModel
from gde.testing.promises import promise, promise_equal, promise_protocol, unknown
from gde.testing.samples import sample_evidence


def check_reward_model(make: Callable[[], RewardModel], trajectories: Sequence[Trajectory] = ()) -> None:
    """Judge trajectories alone and at once and check every promise of `RewardModel`.

    Args:
        make: gives the reward model.
        trajectories: what to judge; episodes in a corridor when none are given.

    Raises:
        AssertionError: a promise is broken.
    """
    trajectories = trajectories or sample_evidence().trajectories
    model = make()
    promise_protocol(model, RewardModel)
    alone = [asyncio.run(_one(model, trajectory)) for trajectory in trajectories]
    for trajectory, trace in zip(trajectories, alone, strict=True):
        _check_trace(trajectory, trace)
    at_once = asyncio.run(_all(model, [*reversed(trajectories)]))
    same = "a trajectory must get the same rewards alone, at once with others and in any order"
    promise_equal([*map(_plain, alone)], [*map(_plain, reversed(at_once))], same)


async def _one(model: RewardModel, trajectory: Trajectory) -> RewardTrace:
    try:
        return await model.rewards(trajectory)
    except Exception as error:
        raise AssertionError(unknown("rewards", trajectory, error)) from error


async def _all(model: RewardModel, trajectories: Sequence[Trajectory]) -> list[RewardTrace]:
    return [*await asyncio.gather(*map(model.rewards, trajectories))]


def _check_trace(trajectory: Trajectory, trace: RewardTrace) -> None:
    promise(isinstance(trace, RewardTrace), f"rewards must give a RewardTrace, got {trace!r}")
    promise_equal(trace.episode, str(trajectory.key), "a trace must name its episode")
    promise(np.isfinite(trace.values).all(), "rewards must be finite; a failure is said in `failure`")
    expected = (0,) if trace.failure else (len(trajectory.turns),)
    promise_equal(trace.values.shape, expected, "a trace must hold one reward a turn, or none and a failure")


def _plain(trace: RewardTrace) -> tuple[str, str, list[float]]:
    return trace.episode, trace.failure, trace.values.tolist()
