"""Where soft-optimal policies go as rationality grows without bound.

The limit is not the uniform choice among optimal actions but the policy of most causal entropy among the optimal ones:
an optimal action counts for as many as the ways to stay optimal that it leaves open. So the recursion is
lexicographic: the hard optimal value first, and the soft value of zero utility among the actions that attain it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Transitions, Utility
from gde_plugins.meg.solvers.softmax import soften

TIE = 1e-11
"""Actions whose values differ by less count as equally good: a share of the rewards, signs aside, that add up to these
values. Nothing that happens elsewhere matters, however large."""
ROUNDING = 1e-13
"""The same, for differences that rounding explains. What lies in between is not decided, so nothing is certified."""


class Limit(NamedTuple):
    """Soft-optimal behaviour in the limit, as seen from the start."""

    utility: float
    """The largest expected utility."""
    divergence: float
    """Nats by which the limit policy departs from random choice: the least that an optimal policy can; inf where
    floating point does not tell which actions are optimal."""
    gap: float
    """By how much the best action that is not optimal falls short, anywhere; inf if all are optimal."""
    tolerance: float
    """Utility by which a policy may fall short and still count as optimal."""


class Limits(NamedTuple):
    """What is passed on from one time step of the recursion to the one before."""

    best: Floats
    """(S,) hard optimal values."""
    entropy: Floats
    """(S,) causal entropy of the limit policy from here on, less that of random choice: at most 0."""
    size: Floats
    """(S,) what the optimal values add up to without the signs of the rewards."""

    @classmethod
    def none(cls, n_states: int) -> "Limits":
        """After the last time step."""
        return cls(*np.zeros((3, n_states)))


class LimitStep(NamedTuple):
    """One time step of the recursion."""

    limits: Limits
    policy: Floats
    """(A, S) the limit policy."""
    gap: float
    decided: bool
    """Whether all actions that count as equally good are, up to rounding."""


def backwards(dynamics: Dynamics, utility: Utility, horizon: int) -> Iterator[LimitStep]:
    """The recursion towards the largest utility, from the last time step to the first."""
    limits = Limits.none(dynamics.n_states)
    for _ in range(horizon):
        step = limit_step(dynamics, utility, limits)
        limits = step.limits
        yield step


def limit_step(transitions: Transitions, utility: Utility, after: Limits) -> LimitStep:
    """One step of the recursion, from the limits of the M states that follow."""
    ending = transitions.ending
    quality = transitions.ahead(after.best) + utility.acting
    best = quality.max(axis=0)
    best[ending] = utility.ending[ending]
    shortfall = best - quality
    shortfall[:, ending] = 0.0
    sizes = transitions.ahead(after.size) + np.abs(utility.acting)
    size = np.where(shortfall == 0, sizes, 0.0).max(axis=0)
    size[ending] = np.abs(utility.ending[ending])
    tied, worse = compared(shortfall, sizes + size)
    remaining = transitions.ahead(after.entropy)
    remaining[worse] = -np.inf
    entropy, policy = soften(remaining)
    entropy[ending] = 0.0
    policy[:, ending] = 1 / transitions.n_actions
    gap = float(shortfall.min(where=worse, initial=np.inf))
    return LimitStep(Limits(best, entropy, size), policy, gap, bool((tied | worse).all()))


def compared(shortfall: Floats, size: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Where values are equal up to rounding, and where they surely differ, given what they are sums of."""
    return shortfall <= ROUNDING * size, shortfall > TIE * size


def limit(dynamics: Dynamics, utility: Utility, horizon: int) -> Limit:
    """The limit as beta goes to +inf; that to -inf is that of the negated utility."""
    gap, decided = np.inf, True
    for step in backwards(dynamics, utility, horizon):
        gap, decided = min(gap, step.gap), decided and step.decided
    start, limits = dynamics.start, step.limits
    divergence = -float(start @ limits.entropy) if decided else np.inf
    return Limit(float(start @ limits.best), divergence, gap, TIE * float(start @ limits.size))
