"""The true rewards: recorded ones, else certified progress."""

from collections.abc import Iterable

import numpy as np

from gde.data.json import is_number
from gde.data.trajectory import Trajectory
from gde.numerics.stats import Floats
from gde_plugins.reward_baselines.progress import progress
from gde_plugins.reward_baselines.progress import unknown as no_progress

REWARD = "reward"
"""The fact of a state with its true reward, e.g. in recorded trajectories of a
benchmark.
"""


def is_recorded(trajectory: Trajectory) -> bool:
    """Whether every turn has a recorded true reward."""
    return bool(trajectory.turns) and all(
        is_number(fact) for fact in _facts(trajectory)
    )


def unknown(trajectory: Trajectory) -> str:
    """Why the episode has no true rewards; empty when it has."""
    return "" if is_recorded(trajectory) else no_progress(trajectory)


def truth(trajectory: Trajectory) -> Floats:
    """(T,) the true reward of every turn.

    Raises:
        ValueError: there is none, see `unknown`.
    """
    if not is_recorded(trajectory):
        return progress(trajectory)
    return np.array([*_facts(trajectory)], dtype=np.float64)


def _facts(trajectory: Trajectory) -> Iterable[object]:
    return (
        turn.state.facts.get(REWARD) if turn.state else None
        for turn in trajectory.turns
    )
