"""The check of reward models (`gde.parts.reward_model`)."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.parts.reward_model import RewardModel
from gde.testing.promises import promise, promise_equal, promise_protocol, unknown
from gde.testing.samples import sample_evidence


def check_reward_model(
    make: Callable[[], RewardModel], trajectories: Sequence[Trajectory] = ()
) -> None:
    """Check every promise of `RewardModel`, one trajectory at a time and at once.

    Args:
        make: gives the reward model.
        trajectories: trajectories to judge; by default episodes in a corridor.

    Raises:
        AssertionError: a promise is broken.
    """
    trajectories = trajectories or sample_evidence().trajectories
    model = make()
    promise_protocol(model, RewardModel)
    alone = []
    for trajectory in trajectories:
        trace = asyncio.run(_one(model, trajectory))
        _check_trace(trajectory, trace)
        alone.append(_comparable(trace))

    # The other order shows a model that carries something from one trajectory to the
    # next.
    backwards = asyncio.run(_all(model, list(reversed(trajectories))))
    at_once = [_comparable(trace) for trace in reversed(backwards)]
    same = "a trajectory must get the same rewards alone, at once with others and in any order"
    promise_equal(alone, at_once, same)


async def _one(model: RewardModel, trajectory: Trajectory) -> RewardTrace:
    try:
        return await model.rewards(trajectory)
    except Exception as error:
        raise AssertionError(unknown("rewards", trajectory, error)) from error


async def _all(
    model: RewardModel, trajectories: Sequence[Trajectory]
) -> list[RewardTrace]:
    return list(await asyncio.gather(*map(model.rewards, trajectories)))


def _check_trace(trajectory: Trajectory, trace: RewardTrace) -> None:
    promise(
        isinstance(trace, RewardTrace),
        f"rewards must give a RewardTrace, got {trace!r}",
    )
    promise_equal(trace.episode, str(trajectory.key), "a trace must name its episode")
    promise(
        np.isfinite(trace.values).all(),
        "rewards must be finite; a failure is said in `failure`",
    )
    expected = (0,) if trace.failure else (len(trajectory.turns),)
    promise_equal(
        trace.values.shape,
        expected,
        "a trace must hold one reward a turn, or none and a failure",
    )


def _comparable(trace: RewardTrace) -> tuple[str, str, list[float]]:
    """A trace without arrays, which cannot be compared with `==`."""
    return trace.episode, trace.failure, trace.values.tolist()
