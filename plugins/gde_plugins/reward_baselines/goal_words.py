"""Rewards for naming what is wanted."""

import re
from itertools import accumulate
from operator import or_

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats

WORD = re.compile(r"[^\W_]+")
COMMON = frozenset(WORD.findall("a an and are as be goal have i in is it of on that the to what with you your"))
"""Words that say nothing of what is wanted."""


class GoalWords:
    """The share of the objective's words that stand in the actions so far; no observation is read.

    Where failures are random walks, as in the benchmark of Shen et al. (2026), their actions seldom name what is
    wanted, so this much can be had without knowing anything of the world's state.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        return _trace("goal-words", trajectory, _named(trajectory))


class GoalClock:
    """The same share, times the number of the turn: who has named what is wanted is nearer to it the later it is."""

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        named = _named(trajectory)
        return _trace("goal-clock", trajectory, named * np.arange(1, len(named) + 1))


def _named(trajectory: Trajectory) -> Floats:
    """(T,) the share by each turn; empty where the objective has no words."""
    wanted = _words(trajectory.world.objective)
    said = [_words(action) for action in trajectory.actions_before] if wanted else []
    return np.array([len(wanted & so_far) / len(wanted) for so_far in accumulate(said, or_)])


def _trace(model: str, trajectory: Trajectory, values: Floats) -> RewardTrace:
    objective = trajectory.world.objective
    failure = "" if _words(objective) else f"wanted an objective with words in it, got {objective!r}"
    return RewardTrace(model=model, episode=str(trajectory.key), values=values, failure=failure)


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - COMMON
