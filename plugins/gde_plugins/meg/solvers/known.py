"""MEG for a known utility: one concave maximisation over the rationality (MacDermott et
al. 2024, Algorithm 1).
"""

from functools import partial
from math import inf, log

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.limits import TIE
from gde_plugins.meg.solvers.line_search import Point, climb
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.solvers.reachable import reached
from gde_plugins.meg.solvers.result import Meg

TOLERANCE = 1e-9
"""Nats between the bounds at which the search ends, relative to the ceiling where that
is above one.
"""
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
    """Measure a policy's MEG with respect to the model's reward (MacDermott et al.
    2024, Definition 3.2).

    The expected log-probability, above chance, that the soft-optimal policy of
    rationality beta gives to the policy's actions is beta E[U] - V(beta). The soft
    value of the start, V, is convex with slope E_beta[U]. So the accuracy is concave
    with slope E[U] - E_beta[U], and Newton's method within a bracket finds the root.

    Args:
        mdp: the model; a reward (S,) is earned in each of the `horizon` states visited,
            a reward (S, A) by each action.
        policy: (S, A), or (T, S, A) with T >= horizon.
        horizon: number of states visited, hence of decisions; None for episodes that go
            on until they end.
        tolerance: nats between the bounds at which to stop, relative to the ceiling
            where that is above one.
        iterations: soft value iterations before giving up, which leaves `converged`
            False and the bounds apart. The bounds also stay apart if rewards that
            matter are lost in the rounding of much larger ones.

    Raises:
        ValueError: the horizon is not positive, the tolerance negative, or the policy
            does not fit the model.
    """
    world, inside, states = reached(mdp, policy, horizon)
    process = process_of(world, horizon, states)
    reward, scale = _normal(world)
    utility = process.dynamics.utility(reward)

    seen = observe(process, inside, on_actions=mdp.reward.ndim == 2)
    departs = seen.divergence
    decisions = seen.decisions
    earned = seen.occupancy.earns(utility)
    size = seen.occupancy.earns(utility.absolute())
    # The occupancy is as large as the policy; free it before the search.
    del seen

    # The accuracy is concave and zero at zero, so the maximum lies on the side where it
    # rises.
    chance = process.moments(utility, 0.0)
    sign = 1.0 if earned >= chance.mean else -1.0
    towards = utility.scaled(sign)
    gained = sign * earned

    def accuracy(beta: float) -> Point:
        soft = process.moments(towards, beta)
        return Point(
            beta=beta,
            value=beta * gained - soft.value,
            slope=gained - soft.mean,
            curvature=soft.variance,
        )

    close = tolerance * max(1.0, decisions * log(mdp.n_actions))
    largest = inf
    if size:
        largest = UNREADABLE / (ROUNDING * size)
    best = climb(
        accuracy,
        start=Point(0.0, 0.0, gained - sign * chance.mean, chance.variance),
        utility=gained,
        find_limit=partial(process.limit, towards),
        tolerance=close,
        iterations=iterations,
        largest=largest,
    )

    # Rounding widens the bounds, and ties below the finest difference of rewards leave
    # no upper bound.
    off = 0.0
    if best.beta < inf:
        off = ROUNDING * size * best.beta
    upper = inf
    if max(best.tolerance, TIE * size) <= _finest(reward):
        upper = best.upper
    upper = min(upper, max(departs, best.value)) + off
    lower = max(best.lower - off, 0.0)

    # Adding zero makes a negative zero positive.
    beta = (sign * best.beta + 0.0) / scale
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
    process = process_of(mdp, horizon)
    reward, scale = _normal(mdp)
    utility = process.dynamics.utility(reward)
    return process.tabulate(utility, beta * scale)


def _normal(mdp: TabularMDP) -> tuple[Doubles, float]:
    """Return the reward in the unit that loses least to rounding (Proposition 3.1), and
    that unit.

    Where all episodes are equally long, the origin is moved too.
    """
    reward = mdp.reward.astype(np.float64)
    if mdp.terminal is None or not mdp.terminal.any():
        origin = _median(reward)
        moved = reward - origin
        rounding = ROUNDING * np.abs(origin)
        reward = np.where(np.abs(moved) > rounding, moved, 0.0)

    # A power of two changes no digit.
    span = float(np.ptp(reward) or np.abs(reward).max())
    _, exponent = np.frexp(span)
    scale = 2.0 ** int(exponent)
    return reward / scale, scale


def _finest(reward: Doubles) -> float:
    """Return the smallest difference from the median reward that sums must resolve; inf
    if all are equal.
    """
    apart = np.abs(reward - _median(reward))
    rounding = ROUNDING * np.abs(reward).max()
    resolved = apart[apart > rounding]
    return float(resolved.min(initial=inf))


def _median(reward: Doubles) -> float:
    """Return one of the rewards, near most of them, however far away a few are."""
    return float(np.quantile(reward, 0.5, method="higher"))
