"""Rewards that a reward model predicts for a trajectory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Rewards:
    """One predicted reward for each step of a transcript."""

    values: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """(T,) rewards. A failure has no values, not NaN: see `failure`."""
    failure: str = ""
    """The reason why there are no values; empty otherwise."""
    made_by: str = ""
    """The method, for a reward model with several, e.g. "rules for blocks"; empty for a
    single one. Every report shows it.
    """
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of events that a reader should know of, e.g. {"asked again": 2}."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardTrace(Rewards):
    """The rewards of one episode in a run."""

    model: str
    """Name of the reward model as chosen in the plan."""
    episode: str


READS_TRUTH = "reads the truth"
"""Count of an episode whose rewards were made from the truth, as the offer declares."""
PREFIX_TESTS = "prefix tests"
"""Count of the prefix tests of an episode: is a reward the same when all later steps are
cut off?
"""
READS_AHEAD = "prefix tests that later steps changed"
"""Count of those that fail, so that the reward model is not causal."""
