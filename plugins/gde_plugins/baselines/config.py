"""Settings of the reference agents."""

from dataclasses import dataclass
from typing import Literal

from gde.data.ranges import Share

Ties = Literal["random", "first"]


@dataclass(frozen=True, kw_only=True)
class OptimalConfig:
    """Settings of the optimal agent."""

    ties: Ties = "random"
    """Choice among several optimal actions: a random one, or the first in the
    order of the model.
    """


@dataclass(frozen=True, kw_only=True)
class NoisyConfig:
    """Settings of the noisy agent."""

    p: Share = 0.1
    """Probability of a slip: an action that is uniformly random over all admissible
    ones, optimal ones included.
    """
