"""The truth that rewards are held against: what a record tells, else certified progress."""

from collections.abc import Iterable

import numpy as np

from gde.data.json import is_number
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats
from gde_plugins.reward_baselines.progress import progress
from gde_plugins.reward_baselines.progress import unknown as no_progress

REWARD = "reward"
"""The fact of a state that tells its true reward, e.g. in recorded trajectories of a benchmark."""


def is_recorded(trajectory: Trajectory) -> bool:
    """Whether the true rewards stand in the record, one a turn."""
    return bool(trajectory.turns) and all(is_number(fact) for fact in _facts(trajectory))


def unknown(trajectory: Trajectory) -> str:
    """Why the episode has no true rewards; empty when it has."""
    return "" if is_recorded(trajectory) else no_progress(trajectory)


def truth(trajectory: Trajectory) -> Floats:
    """(T,) the true reward of every turn.

    Raises:
        ValueError: there is none, see `unknown`.
    """
    return np.array([*_facts(trajectory)], dtype=np.float64) if is_recorded(trajectory) else progress(trajectory)


def _facts(trajectory: Trajectory) -> Iterable[object]:
    return (turn.state.facts.get(REWARD) if turn.state else None for turn in trajectory.turns)
