"""One step of soft value iteration: from action values to state values and action
probabilities.
"""

from typing import NamedTuple

import numpy as np

from gde.data.arrays import Doubles
from gde_plugins.meg.solvers.dynamics import Transitions, Utility

LEAST = float(np.finfo(np.float64).min)


class SoftStep(NamedTuple):
    """State values and action probabilities at one time."""

    values: Doubles
    """(S,) soft values."""
    policy: Doubles
    """(A, S) probabilities; uniform in terminal states and where every action has value
    -inf.
    """


def soften(quality: Doubles) -> SoftStep:
    """Compute log-mean-exp over actions and the softmax policy of (A, S) action values,
    which are overwritten.
    """
    n_actions = len(quality)

    # Take the best value off, so that no exponential overflows. -inf less -inf would be
    # NaN, hence the floor.
    best = np.maximum(quality.max(axis=0), LEAST)
    np.subtract(quality, best, out=quality)
    weights = np.exp(quality, out=quality)
    total = weights.sum(axis=0)

    if total.all():
        values = best + np.log(total / n_actions)
        policy = np.divide(weights, total, out=weights)
        return SoftStep(values, policy)

    # In some states every action has value -inf.
    hopeless = total == 0
    weights[:, hopeless] = 1.0
    total[hopeless] = n_actions
    finite = best + np.log(total / n_actions)
    values = np.where(hopeless, -np.inf, finite)
    policy = np.divide(weights, total, out=weights)
    return SoftStep(values, policy)


def soft_step(transitions: Transitions, utility: Utility, values: Doubles) -> SoftStep:
    """Compute one step of the recursion from the (M,) values of the states that
    follow.
    """
    quality = transitions.ahead(values)
    quality += utility.acting
    values, policy = soften(quality)

    # Nothing is decided in terminal states.
    ending = transitions.ending
    values[ending] = utility.ending[ending]
    policy[:, ending] = 1 / transitions.n_actions
    return SoftStep(values, policy)


def divergence(taken: Doubles) -> float:
    """Return the nats by which (A, S) actions taken depart from uniform choice: sum of
    taken * ln(|A| * policy).
    """
    evenly = taken.sum(axis=0) / len(taken)

    # An action that is never taken adds nothing: its share stays 1 and the logarithm 0.
    share = np.ones_like(taken)
    np.divide(taken, evenly, where=taken > 0, out=share)
    np.log(share, out=share)
    np.multiply(share, taken, out=share)
    return float(share.sum())
