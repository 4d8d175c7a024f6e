"""MEG for a known utility: one concave maximisation over the rationality (MacDermott et al. 2024, Algorithm 1)."""

from functools import partial
from math import inf, log

import numpy as np

from gde.data.mdp import Floats, Policy, TabularMDP
from gde_plugins.meg.solvers.dynamics import Utility
from gde_plugins.meg.solvers.limits import TIE
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.solvers.protocol import check_tolerance
from gde_plugins.meg.solvers.reach import Reach
from gde_plugins.meg.solvers.result import Meg
from gde_plugins.meg.solvers.search import Point, climb

TOLERANCE = 1e-9
"""Nats between the bounds at which the search ends, or this share of the most that MEG can be if that is above one."""
ITERATIONS = 100
"""Soft value iterations before the search is given up."""
ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Relative error of sums of rewards."""
UNREADABLE = 1e-3
"""Nats of rounding at which the search goes no further."""


def known_utility(
    mdp: TabularMDP,
    policy: Policy,
    horizon: int | None = 30,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
) -> Meg:
    """MEG of a policy with respect to the model's reward (MacDermott et al. 2024, Definition 3.2).

    The expected log-probability, above chance, that the soft-optimal policy of rationality beta gives to the policy's
    actions is beta E[U] - V(beta). The soft value of the start, V, is convex with slope E_beta[U], so the accuracy is
    concave with slope E[U] - E_beta[U], of which Newton's method within a bracket finds the root.

    Args:
        mdp: the model; a reward (S,) is earned in each of the `horizon` states visited, a reward (S, A) by each action.
        policy: (S, A), or (T, S, A) with T >= horizon.
        horizon: number of states visited, hence of decisions; None for episodes that go on until they end.
        tolerance: nats between the bounds at which to stop, relative to the ceiling where that is above one.
        iterations: soft value iterations before giving up, which leaves `converged` False and the bounds apart. So
            they are where rewards that matter are lost in the rounding of much larger ones that are earned too.

    Raises:
        ValueError: the horizon is not positive, the tolerance negative, or the policy does not fit the model.
    """
    check_tolerance(tolerance)
    reach = Reach.of(mdp, policy, horizon)
    process = process_of(reach.mdp, horizon)
    reward, scale = _normal(reach.mdp)
    utility = process.dynamics.utility(reward)
    seen = observe(process, reach.policy, on_actions=mdp.reward.ndim == 2)
    departs, decisions, earned = seen.divergence, seen.decisions, seen.occupancy.earns(utility)
    size = seen.occupancy.earns(Utility(np.abs(utility.acting), np.abs(utility.ending)))
    del seen  # visits are as many numbers as the policy
    chance = process.moments(utility, 0.0)
    sign = 1.0 if earned >= chance.mean else -1.0
    towards, gained = utility.scaled(sign), sign * earned

    def accuracy(beta: float) -> Point:
        soft = process.moments(towards, beta)
        return Point(beta, beta * gained - soft.value, gained - soft.mean, soft.variance)

    start = Point(0.0, 0.0, gained - sign * chance.mean, chance.variance)
    close = tolerance * max(1.0, decisions * log(mdp.n_actions))
    largest = UNREADABLE / (ROUNDING * size) if size else inf
    best = climb(accuracy, start, gained, partial(process.limit, towards), 1.0, close, iterations, largest)
    off = ROUNDING * size * best.beta if best.beta < inf else 0.0
    certain = max(best.tolerance, TIE * size) <= _finest(reward)
    lower, upper = max(best.lower - off, 0.0), min(best.upper if certain else inf, max(departs, best.value)) + off
    beta = (sign * best.beta + 0.0) / scale  # no negative zero
    return Meg(
        value=best.value,
        beta=beta,
        bounds=(lower, upper),
        converged=upper - lower <= close,
        decisions=decisions,
        n_actions=mdp.n_actions,
        utility=mdp.reward,
        find_policy=partial(_soft_policy, mdp, beta, horizon),
    )


def _soft_policy(mdp: TabularMDP, beta: float, horizon: int | None) -> Policy:
    process, (reward, scale) = process_of(mdp, horizon), _normal(mdp)
    return process.tabulate(process.dynamics.utility(reward), beta * scale)


def _normal(mdp: TabularMDP) -> tuple[Floats, float]:
    """The reward in the unit and, where all episodes are equally long, from the origin that leave least to rounding
    (Proposition 3.1), and that unit."""
    reward = mdp.reward.astype(np.float64)
    if mdp.terminal is None or not mdp.terminal.any():
        origin = _median(reward)
        reward = np.where(np.abs(reward - origin) > ROUNDING * np.abs(origin), reward - origin, 0.0)
    _, exponent = np.frexp(float(np.ptp(reward) or np.abs(reward).max()))
    scale = 2.0 ** int(exponent)  # a power of two changes no digit
    return reward / scale, scale


def _finest(reward: Floats) -> float:
    """The smallest difference from the usual reward that is no rounding of the largest, as a measure of what sums must
    resolve; inf if all are equal."""
    apart = np.abs(reward - _median(reward))
    return float(apart[apart > ROUNDING * np.abs(reward).max()].min(initial=inf))


def _median(reward: Floats) -> float:
    """One of the rewards, near most of them, however far away a few are."""
    return float(np.quantile(reward, 0.5, method="higher"))
