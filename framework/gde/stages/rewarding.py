"""From trajectories to reward traces: every reward model on every episode.

Each trace is journaled on its own.
"""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import replace

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.errors import RunFailed, Unavailable
from gde.parts.reward_model import RewardModel
from gde.stages.failing import pass_on, reason_of, traceback_of
from gde.stages.outages import Reach, SecondChances
from gde.store.journal import Journal
from gde.store.rewards import judged, write_trace


async def reward(
    name: str,
    model: RewardModel,
    trajectories: Iterable[Trajectory],
    concurrency: int,
    journal: Journal,
    reach: Reach | None = None,
) -> None:
    """Write the model's trace of each trajectory that has none yet.

    An exception becomes the trace's failure.

    Args:
        name: what the run calls the model.
        model: judges the trajectories.
        trajectories: of the run.
        concurrency: number of trajectories judged at once.
        journal: of the run.
        reach: whether the model's own language models answer.

    Raises:
        RunFailed: the journal cannot be written, or a language model answers nobody.
    """
    done = judged(journal, name)
    unjudged = (each for each in trajectories if str(each.key) not in done)
    waiting = SecondChances(unjudged, reach or Reach())

    async def work() -> None:
        async with aclosing(waiting.each()) as mine:
            async for trajectory in mine:
                try:
                    found = await trace(name, model, trajectory, journal)
                except Unavailable as error:
                    if waiting.put_back(trajectory, str(trajectory.key), error):
                        continue
                    found = _failed(name, trajectory, error)
                write_trace(found, journal)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except* RunFailed as failures:
        raise failures.exceptions[0] from None


async def trace(
    name: str,
    model: RewardModel,
    trajectory: Trajectory,
    journal: Journal | None = None,
) -> RewardTrace:
    """The model's rewards of one trajectory, or the reason why there are none.

    The journal keeps the traceback.

    Raises:
        RunFailed: the run cannot go on.
        Unavailable: a language model answers nobody at the moment.
    """
    try:
        found = await model.rewards(trajectory)
        _check(found, str(trajectory.key), len(trajectory.turns))
        return replace(found, model=name, episode=str(trajectory.key))
    except (RunFailed, Unavailable):
        raise
    except BaseException as error:
        pass_on(error)
        if journal is not None:
            journal.keep_traceback(reason_of(error), traceback_of(error))
        return _failed(name, trajectory, error)


def _failed(name: str, trajectory: Trajectory, error: BaseException) -> RewardTrace:
    return RewardTrace(
        model=name,
        episode=str(trajectory.key),
        values=np.empty(0),
        failure=reason_of(error),
    )


def _check(found: RewardTrace, episode: str, n_turns: int) -> None:
    if found.episode != episode:
        raise ValueError(
            f"wanted the rewards of episode {episode}, got those of {found.episode!r}"
        )
    values = found.values
    if found.failure:
        return
    is_number = values.dtype.kind in "fiub"
    if values.shape != (n_turns,) or not (is_number and np.isfinite(values).all()):
        raise ValueError(f"wanted {n_turns} finite rewards, one a turn, got {values}")
