"""Where soft-optimal policies go as rationality grows without bound.

The limit is not the uniform choice among optimal actions but the policy of most causal entropy among the optimal ones:
an optimal action counts for as many as the ways to stay optimal that it leaves open. So the recursion is
lexicographic: the hard optimal value first, and the soft value of zero utility among the actions that attain it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.dynamics import Dynamics, Utility
from gde_plugins.meg.softmax import soften

TIE = 1e-9
"""Actions whose values differ by less, relative to the largest, are equally good."""


class Limit(NamedTuple):
    """Soft-optimal behaviour in the limit, as seen from the start."""

    utility: float
    """The largest expected utility."""
    divergence: float
    """Nats by which the limit policy departs from random choice: the least that an optimal policy can."""
    gap: float
    """By how much the best action that is not optimal falls short, anywhere; inf if all are optimal."""
    scale: float
    """The largest absolute value that occurred: what rounding is relative to."""


class LimitStep(NamedTuple):
    """One time step of the recursion."""

    best: Floats
    """(S,) hard optimal values."""
    entropy: Floats
    """(S,) causal entropy of the limit policy from here on, less that of random choice: at most 0."""
    policy: Floats
    """(A, S) the limit policy."""
    gap: float
    scale: float


def backwards(dynamics: Dynamics, utility: Utility, horizon: int) -> Iterator[LimitStep]:
    """The recursion towards the largest utility, from the last time step to the first."""
    best = entropy = np.zeros(dynamics.n_states)
    for _ in range(horizon):
        quality = dynamics.ahead(best) + utility.acting
        best = quality.max(axis=0)
        best[dynamics.ending] = utility.ending[dynamics.ending]
        shortfall = best - quality
        shortfall[:, dynamics.ending] = 0.0
        scale = float(np.abs(best).max())
        worse = shortfall > TIE * max(scale, np.finfo(float).tiny)
        remaining = dynamics.ahead(entropy)
        remaining[worse] = -np.inf
        entropy, policy = soften(remaining)
        entropy[dynamics.ending] = 0.0
        policy[:, dynamics.ending] = 1 / dynamics.n_actions
        yield LimitStep(best, entropy, policy, float(shortfall.min(where=worse, initial=np.inf)), scale)


def limit(dynamics: Dynamics, utility: Utility, horizon: int) -> Limit:
    """The limit as beta goes to +inf; that to -inf is that of the negated utility."""
    gap, scale = np.inf, 0.0
    for step in backwards(dynamics, utility, horizon):
        gap, scale = min(gap, step.gap), max(scale, step.scale)
    start = dynamics.start
    return Limit(float(start @ step.best), -float(start @ step.entropy), gap, scale)
