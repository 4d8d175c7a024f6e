"""Known-utility MEG by the rule that the printed values of MacDermott et al. (2024)
follow.

The published numbers come out if the rationality is fitted to one state too many: the
planner of `imitation` (Gleave et al. 2022), which the authors adapted, counts the state
after the last action in its occupancy measure (horizon + 1 rows), though its soft value
iteration counts `horizon` rewards. So the fitted beta solves

    sum over t = 0..H of (d_pi,t - d_beta,t) . R = 0,

which is not the maximum of the accuracy over the H decisions that is then reported.
Where the last action of an optimal policy is an arbitrary one, the extra state makes a
finite root where the exact one is infinite.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from gde.data.mdp import Policy, TabularMDP
from gde.numerics.tabular import occupancy
from gde_plugins.meg.solvers.process import process_of, soft_policy

LARGEST = 64.0
"""Largest rationality at which a root is sought, in units of 1 / reward: 1 less of
reward then weighs exp(-64).
"""


class PublishedMeg(NamedTuple):
    """A value by the rule of the printed numbers: not a maximum, hence without
    bounds.
    """

    value: float
    """Nats; below the exact value, if the rationality is not its maximiser."""
    beta: float
    """The root; +-inf where there is none."""


def published_known_utility(
    mdp: TabularMDP, policy: Policy, horizon: int = 30
) -> PublishedMeg:
    """Return the accuracy at the rationality that matches expected utility over horizon
    + 1 states.

    Args:
        mdp: a model without terminal states, with a reward (S,).
        policy: (S, A), or (T, S, A) with T >= horizon.
        horizon: number of decisions.
    """
    wanted = _earned(mdp, policy, horizon)

    def missing(beta: float) -> float:
        predicted = soft_policy(mdp, beta, horizon)
        return wanted - _earned(mdp, predicted, horizon)

    # What is earned rises with beta, so doubling it finds an interval that holds the
    # root, if there is one.
    sign = 1.0 if missing(0.0) >= 0 else -1.0
    end = sign / LARGEST
    while sign * missing(end) > 0:
        if abs(end) >= LARGEST:
            value = _accuracy(mdp, policy, horizon, end)
            return PublishedMeg(value, sign * inf)
        end *= 2

    beta = float(brentq(missing, 0.0, end, xtol=1e-14))
    value = _accuracy(mdp, policy, horizon, beta)
    return PublishedMeg(value, beta)


def _earned(mdp: TabularMDP, policy: Policy, horizon: int) -> float:
    """Return the expected utility of the states before and after each of the
    decisions.
    """
    table = policy.probabilities
    if table.ndim == 2:
        steps = np.broadcast_to(table, (horizon, *table.shape))
    else:
        steps = table[:horizon]

    # What is done in the state after the last decision is of no consequence for being
    # there.
    one_more = np.concatenate([steps, steps[-1:]])
    visits = occupancy(mdp, Policy(probabilities=one_more), horizon + 1).sum(axis=1)
    return float(visits @ mdp.reward)


def _accuracy(
    mdp: TabularMDP,
    policy: Policy,
    horizon: int,
    beta: float,
) -> float:
    """Return the nats above chance of the soft-optimal policy's predictions, over the
    decisions alone.
    """
    visits = occupancy(mdp, policy, horizon).sum(axis=1)
    earned = float(visits @ mdp.reward)
    process = process_of(mdp, horizon)
    utility = process.dynamics.utility(mdp.reward)
    return beta * earned - process.moments(utility, beta).value
