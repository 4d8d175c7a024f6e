"""Rewards that a reward model predicts for a trajectory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardTrace:
    """One predicted reward for each turn, at the moment before its decision."""

    model: str
    """Name of the reward model as chosen in the plan."""
    episode: str
    values: NDArray[np.float64]
    """(T,) rewards. A failure has no values, not NaN: see `failure`."""
    failure: str = ""
    """The reason why there are no values; empty otherwise."""
    made_by: str = ""
    """The method, for a reward model with several, e.g. "rules for blocks"; empty for a
    single one. Every report shows it.
    """
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of events that a reader should know of, e.g. {"asked again": 2}."""
