"""Known-utility MEG by the rule that the printed values of MacDermott et al. (2024) follow.

The published numbers come out if the rationality is fitted to one state too many: the planner of `imitation` (Gleave
et al. 2022), which the authors adapted, counts the state after the last action in its occupancy measure (horizon + 1
rows), though its soft value iteration counts `horizon` rewards. So the fitted beta solves

    sum over t = 0..H of (d_pi,t - d_beta,t) . R = 0,

which is not the maximum of the accuracy over the H decisions that is then reported. Where the last action of an optimal
policy is an arbitrary one, the extra state makes a finite root where the exact one is infinite.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from gde.data.mdp import Policy, TabularMDP
from gde.numerics.tabular import occupancy
from gde_plugins.meg.solvers.process import process_of, soft_policy

LARGEST = 64.0
"""Rationality, in units of 1 / reward, up to which a root is looked for: 1 less of reward then weighs exp(-64)."""


class PublishedMeg(NamedTuple):
    """A value by the rule of the printed numbers: not a maximum, hence without bounds."""

    value: float
    """Nats; below the exact value, if the rationality is not its maximiser."""
    beta: float
    """The root; +-inf where there is none."""


def published_known_utility(mdp: TabularMDP, policy: Policy, horizon: int = 30) -> PublishedMeg:
    """Predictive accuracy at the rationality that matches expected utility over horizon + 1 states.

    Args:
        mdp: a model without terminal states, with a reward (S,).
        policy: (S, A), or (T, S, A) with T >= horizon.
        horizon: number of decisions.

    Raises:
        ValueError: the model has terminal states or a reward (S, A), for which the rule is not defined.
    """
    if mdp.terminal is not None or mdp.reward.ndim != 1:
        raise ValueError("wanted a model without terminal states and with a reward of states")
    wanted = _earned(mdp, policy, horizon)

    def missing(beta: float) -> float:
        return wanted - _earned(mdp, soft_policy(mdp, beta, horizon), horizon)

    sign = 1.0 if missing(0.0) >= 0 else -1.0
    end = sign / LARGEST
    while sign * missing(end) > 0:
        if abs(end) >= LARGEST:
            return PublishedMeg(_accuracy(mdp, policy, horizon, end), sign * inf)
        end *= 2
    beta = float(brentq(missing, 0.0, end, xtol=1e-14))
    return PublishedMeg(_accuracy(mdp, policy, horizon, beta), beta)


def _earned(mdp: TabularMDP, policy: Policy, horizon: int) -> float:
    """Expected utility of the states before and after each of the decisions."""
    table = policy.probabilities
    steps = np.broadcast_to(table, (horizon, *table.shape)) if table.ndim == 2 else table[:horizon]
    # What is done in the state after the last decision is of no consequence for being there.
    onwards = Policy(probabilities=np.concatenate([steps, steps[-1:]]))
    return float(occupancy(mdp, onwards, horizon + 1).sum(axis=1) @ mdp.reward)


def _accuracy(mdp: TabularMDP, policy: Policy, horizon: int, beta: float) -> float:
    """Nats above chance of the soft-optimal policy's predictions, over the decisions alone."""
    earned = float(occupancy(mdp, policy, horizon).sum(axis=1) @ mdp.reward)
    process = process_of(mdp, horizon)
    return beta * earned - process.moments(process.dynamics.utility(mdp.reward), beta).value
