"""Rewards that follow from the length of an episode, from chance or from the truth."""

from dataclasses import dataclass

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats
from gde.seeding import derive, generator
from gde_plugins.reward_baselines.truth import truth, unknown


class Monotonic:
    """Time equals progress: turn t of T earns t / T, whatever happens in it (Shen et
    al. 2026, appendix C.1).
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        n = len(trajectory.turns)
        return trace("monotonic", trajectory, np.arange(1, n + 1) / max(n, 1))


class Clock:
    """Turn t earns t. Within an episode it is as `Monotonic`; between long and short
    episodes it is not.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        return trace("clock", trajectory, np.arange(1.0, len(trajectory.turns) + 1))


class Unrepeated:
    """Turns since an observation was seen again, and 0 when one is; compares
    observations and does not read them.

    Random walks come back to where they were, and agents that know the way do not.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        seen: set[str] = set()
        values: list[float] = []
        since = 0.0
        for turn in trajectory.turns:
            text = turn.observation.text
            since = 0.0 if text in seen else since + 1
            seen.add(text)
            values.append(since)
        return trace("unrepeated", trajectory, np.array(values))


@dataclass(frozen=True)
class Constant:
    """The same for every turn: it correlates with nothing, so its distance from
    progress that varies is sqrt(1/2).
    """

    value: float

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        return trace("constant", trajectory, np.full(len(trajectory.turns), self.value))


@dataclass(frozen=True)
class Random:
    """Uniform in [0, 1), drawn anew for every episode."""

    seed: int

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        rng = generator(self.seed, "rewards", str(trajectory.key))
        return trace("random", trajectory, rng.random(len(trajectory.turns)))


@dataclass(frozen=True)
class Shuffled:
    """Uniform in [0, 1) for every observation of a world, the same wherever it is seen
    again.

    A control: rewards that belong to states as the truth does, but to the wrong ones.
    """

    seed: int

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        values: list[float] = []
        for turn in trajectory.turns:
            number = derive(
                self.seed, "shuffled", trajectory.world.id, turn.observation.text
            )
            values.append(number / 2**63)
        return trace("shuffled", trajectory, np.array(values, dtype=np.float64))


class Oracle:
    """The truth itself (section 2.2 of Shen et al. 2026), at distance 0 by
    construction.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        reason = unknown(trajectory)
        return trace(
            "oracle", trajectory, np.empty(0) if reason else truth(trajectory), reason
        )


def trace(
    model: str, trajectory: Trajectory, values: Floats, failure: str = ""
) -> RewardTrace:
    """The rewards of an episode, or the reason why there are none."""
    return RewardTrace(
        model=model, episode=str(trajectory.key), values=values, failure=failure
    )
