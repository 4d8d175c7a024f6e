"""The limit of soft-optimal policies as rationality goes to infinity.

The limit is the policy of most causal entropy among the optimal ones, not the uniform
choice among optimal actions: an optimal action weighs as much as the number of ways to
stay optimal that it leaves open. The recursion is lexicographic: the hard optimal value
first, then the soft value of zero utility among the actions that attain it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gde.data.arrays import Doubles
from gde_plugins.meg.solvers.dynamics import Dynamics, Mask, Transitions, Utility
from gde_plugins.meg.solvers.softmax import soften

TIE = 1e-11
"""Action values that differ by less are tied. The unit is the sum of the absolute
rewards that add up to them, so large rewards elsewhere in the world do not matter.
"""
ROUNDING = 1e-13
"""Differences below this, in the same unit, are rounding. Between ROUNDING and TIE
nothing is certified.
"""


class Limit(NamedTuple):
    """Soft-optimal behaviour in the limit, as seen from the start."""

    utility: float
    """The largest expected utility."""
    divergence: float
    """Nats by which the limit policy departs from uniform choice, the least of any
    optimal policy; inf where floating point does not tell which actions are optimal.
    """
    gap: float
    """By how much the best action that is not optimal falls short, anywhere; inf if all
    are optimal.
    """
    tolerance: float
    """Utility by which a policy may fall short and still count as optimal."""


NO_LIMIT = Limit(np.inf, np.inf, np.inf, 0.0)
"""In place of a limit that was not computed, or that is none."""


class Limits(NamedTuple):
    """The values that one time step of the recursion hands to the step before."""

    best: Doubles
    """(S,) hard optimal values."""
    entropy: Doubles
    """(S,) causal entropy of the limit policy from here on, less that of uniform
    choice: at most 0.
    """
    size: Doubles
    """(S,) sums of the absolute rewards that make up the optimal values."""

    @classmethod
    def none(cls, n_states: int) -> "Limits":
        """Return the values after the last time step: zero."""
        return cls(*np.zeros((3, n_states)))


class LimitStep(NamedTuple):
    """One time step of the recursion."""

    limits: Limits
    policy: Doubles
    """(A, S) probabilities of the limit policy."""
    gap: float
    decided: bool
    """Whether all tied actions are equal up to rounding."""


def backwards(
    dynamics: Dynamics, utility: Utility, horizon: int
) -> Iterator[LimitStep]:
    """Run the recursion towards the largest utility, from the last time step to the
    first.
    """
    limits = Limits.none(dynamics.n_states)
    for _ in range(horizon):
        step = limit_step(dynamics, utility, limits)
        limits = step.limits
        yield step


def limit_step(transitions: Transitions, utility: Utility, after: Limits) -> LimitStep:
    """Compute one step of the recursion from the limits of the M states that follow."""
    ending = transitions.ending
    quality = transitions.ahead(after.best) + utility.acting
    best = quality.max(axis=0)
    best[ending] = utility.ending[ending]
    shortfall = best - quality
    shortfall[:, ending] = 0.0

    # Ties are judged against the rounding errors of the sums, which grow with the sizes
    # of their terms.
    sizes = transitions.ahead(after.size) + np.abs(utility.acting)
    of_best = np.where(shortfall == 0, sizes, 0.0)
    size = of_best.max(axis=0)
    size[ending] = np.abs(utility.ending[ending])
    tied, worse = compare(shortfall, sizes + size)

    # The optimal actions share the choice by the entropy that they leave.
    remaining = transitions.ahead(after.entropy)
    remaining[worse] = -np.inf
    entropy, policy = soften(remaining)
    entropy[ending] = 0.0
    policy[:, ending] = 1 / transitions.n_actions

    is_decided = tied | worse
    return LimitStep(
        limits=Limits(best, entropy, size),
        policy=policy,
        gap=float(shortfall.min(where=worse, initial=np.inf)),
        decided=bool(is_decided.all()),
    )


def compare(shortfall: Doubles, size: Doubles) -> tuple[Mask, Mask]:
    """Return where values are equal up to rounding, and where they surely differ, given
    the sizes of their terms.
    """
    tied = shortfall <= ROUNDING * size
    worse = shortfall > TIE * size
    return tied, worse


def limit(dynamics: Dynamics, utility: Utility, horizon: int) -> Limit:
    """Compute the limit for beta to +inf; negate the utility for that to -inf."""
    gap = np.inf
    decided = True
    for step in backwards(dynamics, utility, horizon):
        limits = step.limits
        gap = min(gap, step.gap)
        decided = decided and step.decided

    # The last step of the recursion is the first of an episode.
    start = dynamics.start
    divergence = np.inf
    if decided:
        divergence = -float(start @ limits.entropy)
    size = float(start @ limits.size)
    return Limit(
        utility=float(start @ limits.best),
        divergence=divergence,
        gap=gap,
        tolerance=TIE * size,
    )
