"""Rewards for naming what is wanted."""

import re
from itertools import accumulate
from operator import or_

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats
from gde_plugins.reward_baselines.models import trace

WORD = re.compile(r"[^\W_]+")
COMMON = frozenset(WORD.findall("a an and are as be goal have i in is it of on that the to what with you your"))
"""Words that say nothing of what is wanted."""


class GoalWords:
    """The share of the objective's words that stand in the actions so far; no observation is read.

    Where failures are random walks, as in the benchmark of Shen et al. (2026), their actions seldom name what is
    wanted, so this much can be had without knowing anything of the world's state.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        named, failure = _named(trajectory)
        return trace("goal-words", trajectory, named, failure)


class GoalClock:
    """The same share, times the number of the turn: who has named what is wanted is nearer to it the later it is."""

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        named, failure = _named(trajectory)
        return trace("goal-clock", trajectory, named * np.arange(1, len(named) + 1), failure)


def _named(trajectory: Trajectory) -> tuple[Floats, str]:
    """(T,) the share by each turn, or nothing and the reason."""
    objective = trajectory.world.objective
    if not (wanted := _words(objective)):
        return np.empty(0), f"wanted an objective with words in it, got {objective!r}"
    said = map(_words, trajectory.actions_before)
    return np.array([len(wanted & so_far) / len(wanted) for so_far in accumulate(said, or_)]), ""


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - COMMON
