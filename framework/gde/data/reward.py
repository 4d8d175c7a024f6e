"""Rewards that a reward model predicts for a trajectory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from gde.data.arrays import Doubles


@dataclass(frozen=True, kw_only=True, eq=False)
class Rewards:
    """One predicted reward for each step of a transcript."""

    values: Doubles = field(default_factory=lambda: np.empty(0))
    """(T,) rewards, which may be given as any sequence of numbers. A failure has no
    values, not NaN: see `failure`.
    """
    failure: str = ""
    """The reason why there are no values; empty otherwise."""
    made_by: str = ""
    """The method, for a reward model with several, e.g. "rules for blocks"; empty for a
    single one. Every report shows it.
    """
    counts: Mapping[str, int] = field(default_factory=dict)
    """Counts of events that a reader should know of, e.g. {"asked again": 2}."""

    def __post_init__(self) -> None:
        try:
            values = np.asarray(self.values)
        except ValueError:
            # Sequences of different lengths.
            values = np.empty(0, dtype=object)
        if values.dtype.kind not in "fiub":
            # Arrays print on several lines; a message is one line.
            got = " ".join(repr(self.values).split())[:80]
            raise ValueError(f"rewards: wanted one number a step, got {got}")
        object.__setattr__(self, "values", values)


@dataclass(frozen=True, kw_only=True, eq=False)
class RewardTrace(Rewards):
    """The rewards of one episode in a run."""

    model: str
    """Name of the reward model as chosen in the plan."""
    episode: str


READS_TRUTH = "reads the truth"
"""Count of an episode whose rewards were made from the truth, as the offer declares."""
NOT_ISOLATED = "not isolated"
"""Count of an episode that code of others judged in the process of the run."""
READS_NOTHING = "reads no observation"
"""What tells a baseline from a reward model that contends."""
PREFIX_TESTS = "prefix tests"
"""Count of the prefix tests of an episode: is a reward the same when all later steps are
cut off?
"""
READS_AHEAD = "prefix tests that later steps changed"
"""Count of those that fail, so that the reward model is not causal."""
