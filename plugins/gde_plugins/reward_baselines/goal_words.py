"""Rewards for actions that name the objective."""

import re

import numpy as np

from gde.data.reward import RewardTrace
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats
from gde_plugins.reward_baselines.models import trace

WORD = re.compile(r"[^\W_]+")
COMMON = frozenset(
    WORD.findall(
        "a an and are as be goal have i in is it of on that the to what with you your"
    )
)
"""Words that are left out of objectives."""


class GoalWords:
    """The share of the objective's words in the actions so far; reads no observation.

    Where failures are random walks, as in the benchmark of Shen et al. (2026), their
    actions seldom name the objective. A reward model has to be better than this to show
    that it knows the world's state.
    """

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        named, failure = _named(trajectory)
        return trace("goal-words", trajectory, named, failure)


class GoalClock:
    """The same share, times the number of the turn."""

    async def rewards(self, trajectory: Trajectory) -> RewardTrace:
        named, failure = _named(trajectory)
        return trace(
            "goal-clock", trajectory, named * np.arange(1, len(named) + 1), failure
        )


def _named(trajectory: Trajectory) -> tuple[Floats, str]:
    """(T,) the share at each turn, or an empty array and the reason."""
    objective = trajectory.world.objective
    wanted = _words(objective)
    if not wanted:
        return np.empty(0), f"wanted an objective with words in it, got {objective!r}"
    shares: list[float] = []
    named: set[str] = set()
    for action in trajectory.actions_before:
        named |= wanted & _words(action)
        shares.append(len(named) / len(wanted))
    return np.array(shares), ""


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(text.lower())) - COMMON
