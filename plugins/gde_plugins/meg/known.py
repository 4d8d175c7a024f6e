"""MEG with respect to a known utility: one concave maximisation over the rationality (paper 002, Algorithm 1)."""

from functools import partial
from math import log

import numpy as np

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.process import observe, process_of
from gde_plugins.meg.result import Meg
from gde_plugins.meg.search import Point, climb

TOLERANCE = 1e-9
"""Nats between the bounds at which the search ends, or this share of the most that MEG can be if that is above one."""
ITERATIONS = 100
"""Soft value iterations before the search is given up."""


def known_utility(
    mdp: TabularMDP,
    policy: Policy,
    horizon: int | None = 30,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Meg:
    """MEG of a policy with respect to the model's reward (paper 002, Definition 3.2).

    The expected log-probability, above chance, that the soft-optimal policy of rationality beta gives to the policy's
    actions is beta E[U] - V(beta). The soft value of the start, V, is convex with slope E_beta[U], so the accuracy is
    concave with slope E[U] - E_beta[U], of which Newton's method within a bracket finds the root.

    Args:
        mdp: the model; a reward (S,) is earned in each of the `horizon` states visited, a reward (S, A) by each action.
        policy: (S, A), or (T, S, A) with T >= horizon.
        horizon: number of states visited, hence of decisions; None for episodes that go on until they end.
        tolerance: nats between the bounds at which to stop, relative to the ceiling where that is above one.
        iterations: soft value iterations before giving up, which leaves `converged` False and the bounds apart.

    Raises:
        ValueError: the horizon is not positive, or the policy does not fit the model.
    """
    process = process_of(mdp, horizon)
    utility = process.dynamics.utility(mdp.reward)
    seen = observe(process, policy, on_actions=mdp.reward.ndim == 2)
    earned = seen.occupancy.earns(utility)
    chance = process.moments(utility, 0.0)
    sign = 1.0 if earned >= chance.mean else -1.0
    towards, gained = utility.scaled(sign), sign * earned

    def accuracy(beta: float) -> Point:
        soft = process.moments(towards, beta)
        return Point(beta, beta * gained - soft.value, gained - soft.mean, soft.variance)

    start = Point(0.0, 0.0, gained - sign * chance.mean, chance.variance)
    close = tolerance * max(1.0, seen.decisions * log(mdp.n_actions))
    unit = 1 / float(np.ptp(mdp.reward) or np.abs(mdp.reward).max() or 1)
    best = climb(accuracy, start, gained, process.limit(towards), unit, close, iterations)
    beta = sign * best.beta + 0.0  # no negative zero
    return Meg(
        value=best.value,
        beta=beta,
        bounds=(best.lower, best.upper),
        converged=best.upper - best.lower <= close,
        decisions=seen.decisions,
        n_actions=mdp.n_actions,
        utility=mdp.reward,
        find_policy=partial(process.tabulate, utility, beta),
    )
