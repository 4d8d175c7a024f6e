"""Rewards that a reward model predicts for a trajectory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardTrace:
    """One predicted reward a turn: of the moment that the turn shows, before its decision."""

    model: str
    """Name of the reward model as chosen in the plan."""
    episode: str
    values: NDArray[np.float64]
    """(T,); NaN never stands for a failure, see `failure`."""
    failure: str = ""
    """Why there are no values; empty when there are."""
    made_by: str = ""
    """What gave the values where the reward model has several ways to them, e.g. "rules for blocks"; every report says
    it. Empty where there is one."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How often what a reader should know of happened on the way, e.g. {"asked again": 2}."""
