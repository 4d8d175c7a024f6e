"""One step of soft value iteration: from action values to state values and action probabilities."""

from typing import NamedTuple

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Transitions, Utility

LEAST = float(np.finfo(np.float64).min)


class SoftStep(NamedTuple):
    """State values and action probabilities at one time."""

    values: Floats
    """(S,) soft values."""
    policy: Floats
    """(A, S) probabilities; uniform in terminal states and where every action has value -inf."""


def soften(quality: Floats) -> SoftStep:
    """Compute log-mean-exp over actions and the softmax policy of (A, S) action values, which are overwritten."""
    # -inf less -inf would be NaN.
    best = np.maximum(quality.max(axis=0), LEAST)
    weights = np.exp(np.subtract(quality, best, out=quality), out=quality)
    total = weights.sum(axis=0)
    if total.all():
        return SoftStep(best + np.log(total / len(weights)), np.divide(weights, total, out=weights))

    # In some states every action has value -inf.
    hopeless = total == 0
    weights[:, hopeless] = 1.0
    total[hopeless] = len(weights)
    values = np.where(hopeless, -np.inf, best + np.log(total / len(weights)))
    return SoftStep(values, np.divide(weights, total, out=weights))


def soft_step(transitions: Transitions, utility: Utility, values: Floats) -> SoftStep:
    """Compute one step of the recursion from the (M,) values of the states that follow."""
    quality = transitions.ahead(values)
    quality += utility.acting
    values, policy = soften(quality)
    values[transitions.ending] = utility.ending[transitions.ending]
    policy[:, transitions.ending] = 1 / transitions.n_actions
    return SoftStep(values, policy)


def divergence(taken: Floats) -> float:
    """Return the nats by which (A, S) actions taken depart from uniform choice: sum of taken * ln(|A| * policy)."""
    used = taken > 0
    share = np.divide(taken, taken.sum(axis=0) / len(taken), where=used, out=np.ones_like(taken))
    np.multiply(np.log(share, out=share), taken, out=share)
    return float(share.sum())
