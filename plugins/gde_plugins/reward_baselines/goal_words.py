"""Rewards for naming what is wanted."""

import re
from itertools import accumulate
from operator import or_

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory

WORD = re.compile(r"[^\W_]+")
COMMON = frozenset(WORD.findall("a an and are as be goal have i in is it of on that the to what with you your"))
"""Words that say nothing of what is wanted."""


class GoalWords:
    """The share of the objective's words that stand in the actions so far; no observation is read.

    Where failures are random walks, as in the benchmark of Shen et al. (2026), their actions seldom name what is
    wanted, so this much can be had without knowing anything of the world's state.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        objective = trajectory.world.objective
        wanted = _words(objective)
        failure = "" if wanted else f"wanted an objective with words in it, got {objective!r}"
        said = [_words(action) for action in trajectory.actions_before] if wanted else []
        values = np.array([len(wanted & so_far) / len(wanted) for so_far in accumulate(said, or_)])
        return RewardTrace(model="goal-words", episode=str(trajectory.key), values=values, failure=failure)


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - COMMON
