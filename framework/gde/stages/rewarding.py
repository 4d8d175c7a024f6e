"""Trajectories to reward traces: every reward model on every episode."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.parts.reward_model import RewardModel
from gde.store.journal import Journal, Statement


async def reward(
    name: str, model: RewardModel, trajectories: Sequence[Trajectory], concurrency: int
) -> tuple[RewardTrace, ...]:
    """The model's trace of each trajectory; an exception becomes the trace's failure."""
    places = asyncio.Semaphore(concurrency)

    async def trace(trajectory: Trajectory) -> RewardTrace:
        async with places:
            try:
                found = await model.rewards(trajectory)
                _check(found, len(trajectory.turns))
                return replace(found, model=name, episode=str(trajectory.key))
            except Exception as error:
                reason = f"{type(error).__name__}: {error}"
                return RewardTrace(model=name, episode=str(trajectory.key), values=np.empty(0), failure=reason)

    return tuple(await asyncio.gather(*map(trace, trajectories)))


def _check(trace: RewardTrace, n_turns: int) -> None:
    if not trace.failure and (trace.values.shape != (n_turns,) or not np.isfinite(trace.values).all()):
        raise ValueError(f"wanted {n_turns} finite rewards, one a turn, got {trace.values}")


def write_traces(traces: Sequence[RewardTrace], journal: Journal) -> None:
    """Store the traces, replacing earlier ones."""
    query = "INSERT INTO rewards VALUES (?, ?, ?, ?, ?)"
    statements: list[Statement] = [("DELETE FROM rewards", ())]
    for trace in traces:
        if trace.failure:
            statements.append((query, (trace.model, trace.episode, -1, None, trace.failure)))
        rows = [(trace.model, trace.episode, turn, float(value), "") for turn, value in enumerate(trace.values)]
        statements += [(query, row) for row in rows]
    journal.write(statements)


def read_traces(journal: Journal) -> tuple[RewardTrace, ...]:
    """The stored traces."""
    values: dict[tuple[str, str], list[float]] = {}
    failures: dict[tuple[str, str], str] = {}
    for row in journal.query("SELECT * FROM rewards ORDER BY model, episode, turn"):
        place = (row["model"], row["episode"])
        kept = values.setdefault(place, [])
        if row["failure"]:
            failures[place] = row["failure"]
        else:
            kept.append(row["value"])
    return tuple(
        RewardTrace(model=model, episode=episode, values=np.array(kept), failure=failures.get((model, episode), ""))
        for (model, episode), kept in values.items()
    )
