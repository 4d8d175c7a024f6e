"""One step of soft value iteration: from the values of actions to the value of a state and the choice among them."""

from typing import NamedTuple

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Transitions, Utility

LEAST = float(np.finfo(np.float64).min)


class SoftStep(NamedTuple):
    """Values and choices at one time."""

    values: Floats
    """(S,) soft values."""
    policy: Floats
    """(A, S) action probabilities; uniform where nothing is decided or every action is hopeless."""


def soften(quality: Floats) -> SoftStep:
    """Log-mean-exp over actions and the softmax policy of (A, S) qualities, which are overwritten."""
    best = np.maximum(quality.max(axis=0), LEAST)  # -inf less -inf would be NaN
    weights = np.exp(np.subtract(quality, best, out=quality), out=quality)
    total = weights.sum(axis=0)
    if not total.all():
        return _hopeless(best, weights, total)
    return SoftStep(best + np.log(total / len(weights)), np.divide(weights, total, out=weights))


def _hopeless(best: Floats, weights: Floats, total: Floats) -> SoftStep:
    """As `soften`, where every action of some state has quality -inf."""
    nothing = total == 0
    weights[:, nothing], total[nothing] = 1.0, len(weights)
    values = np.where(nothing, -np.inf, best + np.log(total / len(weights)))
    return SoftStep(values, np.divide(weights, total, out=weights))


def soft_step(transitions: Transitions, utility: Utility, values: Floats) -> SoftStep:
    """One step of the recursion, from the (M,) values of what follows."""
    quality = transitions.ahead(values)
    quality += utility.acting
    values, policy = soften(quality)
    values[transitions.ending] = utility.ending[transitions.ending]
    policy[:, transitions.ending] = 1 / transitions.n_actions
    return SoftStep(values, policy)


def divergence(taken: Floats) -> float:
    """Nats by which (A, S) actions taken depart from random choice: sum of taken * ln(share of the state * |A|)."""
    used = taken > 0
    share = np.divide(taken, taken.sum(axis=0) / len(taken), where=used, out=np.ones_like(taken))
    np.multiply(np.log(share, out=share), taken, out=share)
    return float(share.sum())
