"""MEG with respect to a class of utilities that is linear in its weights: a concave maximisation with a certificate.

The accuracy <d, U> - V(U) of predicting a policy with occupancy d is concave in U; its gradient is the difference of
occupancies, d - d_U. Bounds from above come from the dual problem. For any policy with the same moments of the features
as the one measured, <d, U> is its expected utility too, and V(U) is at least that less its divergence from random
choice. So no U in the class is more accurate than that divergence, and the least such divergence is the maximum.

Near the maximum such a policy is found by one Newton step: the soft-optimal flow plus its tangent in the direction that
closes the difference in moments, which is a flow with exactly these moments as long as nothing in it is negative.

Newton's steps are found by conjugate gradients. Where weights are utilities of states they take a few products with the
curvature each, made easy by `surrogate`, and begin where `beginning` says. Where weights are anything else, L-BFGS goes
before.
"""

from collections.abc import Callable
from math import inf, log
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.beginning import beginning
from gde_plugins.meg.solvers.conjugate import conjugate_gradients
from gde_plugins.meg.solvers.dynamics import Utility
from gde_plugins.meg.solvers.family import Family
from gde_plugins.meg.solvers.process import Observed
from gde_plugins.meg.solvers.protocol import Fit, Process
from gde_plugins.meg.solvers.softmax import divergence
from gde_plugins.meg.solvers.stationary_fit import Divergent
from gde_plugins.meg.solvers.surrogate import Solve, Surrogate

ROUNDING = 1e-13
"""Difference in moments, relative to their largest, that cannot be told from none."""
SETTLED = 1e-10
"""Relative gain a step at which L-BFGS gives over to Newton's method."""
STEPS = 100
"""Newton steps at most."""
FORCING = 0.1
"""Share of the difference in moments that a Newton step may leave."""
BOLD = 4.0
"""Nats by which a weight changes in a step, mostly."""
NEAR = 1.0
"""Newton's step promises a gain of this many tolerances: then it is worth while to look for a bound."""
MORE = 0.56
"""Share of its slope that a step gains beyond which twice the step is tried: that of a parabola is a half, that of an
exponential, as where a utility goes to minus infinity, .63."""
LEFT = 0.1
"""Share of the tolerance that a bound may lose to what a step leaves of the difference in moments."""
MOST = 1000
"""Products with the curvature in a step at most,"""
PATIENCE = 30
"""and far away, for utilities of states."""
STALE = 12
"""Products in a step from which on what makes them easy is made anew,"""
TURNED = 1.0
"""and nats by which a weight then changed."""
SPARE = 0.1
"""Share of the tolerance that may be spent on what is negative in a flow but next to nothing."""


class Solution(NamedTuple):
    """The best weights found and what is known about the maximum."""

    weights: Floats
    value: float
    upper: float


def maximise(process: Process, family: Family, seen: Observed, tolerance: float, iterations: int) -> Solution:
    """Maximise the accuracy of predicting a policy over a family of utilities.

    Args:
        process: where it acts.
        family: of utilities.
        seen: what the policy measured does.
        tolerance: nats between the bounds at which to stop.
        iterations: of L-BFGS, where Newton's method does not begin.
    """
    problem = Problem(process, family, seen, tolerance)
    here, upper = problem.begin(seen, iterations), seen.divergence
    for _ in range(STEPS):
        step = problem.newton_step(here)
        far = problem.is_far(here, step)
        ahead = problem.along(here, step) if far else None
        if ahead is None:
            upper = min(upper, problem.upper(here, step, SPARE * tolerance))
            ahead = None if far else problem.along(here, step)
        here = ahead or here
        if ahead is None or upper - here.value <= tolerance:
            break
    return Solution(here.weights, here.value, max(here.value, upper))


class Point(NamedTuple):
    """The accuracy for some weights."""

    weights: Floats
    value: float
    missing: Floats
    """(K,) the gradient: by how much the moments of the soft-optimal policy fall short of those of the one measured."""
    fit: Fit


class Problem:
    """The accuracy of predicting one policy as a function of the weights."""

    def __init__(self, process: Process, family: Family, seen: Observed, tolerance: float) -> None:
        self._process, self._family, self._tolerance = process, family, tolerance
        self._surrogate = None if family.where is None else Surrogate(process.dynamics, family.where)
        self._solve: Solve | None = None
        self._target = family.moments(seen.occupancy.counts(family.on_actions))
        self._rounding = ROUNDING * float(np.abs(self._target).max(initial=0.0))

    def at(self, weights: Floats) -> Point | None:
        """None where the soft value is infinite, hence the accuracy -inf."""
        try:
            fit = self._process.fit(self._process.dynamics.utility(self._family.utility(weights)))
        except Divergent:
            return None
        missing = self._target - self._family.moments(fit.counts(self._family.on_actions))
        return Point(weights, float(self._target @ weights) - fit.value, missing, fit)

    def begin(self, seen: Observed, iterations: int) -> Point:
        """Where Newton's method begins: at what explains single decisions, or at what L-BFGS finds; else at zero."""
        if self._family.where is not None:
            there = self.at(beginning(self._process.dynamics, seen.occupancy.taken)[self._family.where])
            if there and there.value > 0:
                return there
        zero = self.at(np.zeros(self._family.size))
        if zero is None:
            raise Divergent("no soft-optimal policy ends, whatever the utility: give a horizon or a discount below 1")
        return zero if self._surrogate else self._ascend(zero, iterations)

    def along(self, here: Point, step: Floats) -> Point | None:
        """A better point, at the step or on the way back from it; None if there is none."""
        slope = float(here.missing @ step)
        while np.abs(step).max(initial=0.0) > ROUNDING:
            ahead = self.at(here.weights + step)
            if ahead and ahead.value > here.value:
                further = self.at(here.weights + 2 * step) if ahead.value - here.value > MORE * slope else None
                return further if further and further.value > ahead.value else ahead
            fall = here.value + slope - ahead.value if ahead else inf
            top = slope / (2 * fall) if 0 < fall < inf else 0.5  # of the parabola through what is known
            shorter = min(max(top, 0.1), 0.5)
            step, slope = shorter * step, shorter * slope
        return None

    def is_far(self, here: Point, step: Floats) -> bool:
        """Whether a step promises too much for a bound to be close."""
        return float(here.missing @ step) > NEAR * self._tolerance

    def newton_step(self, here: Point) -> Floats:
        """The change of weights that closes the difference in moments to first order, by conjugate gradients.

        Far away, what is hardly visited moves by no more than `BOLD`, if little is lost: it counts exponentially. Near,
        what is left of the difference must not spoil the bound.
        """
        most = max(self._rounding, FORCING * float(np.linalg.norm(here.missing)))

        def enough(step: Floats, left: Floats, products: int) -> bool:
            if self.is_far(here, step):
                return bool(np.linalg.norm(left) <= most) or (self._surrogate is not None and products >= PATIENCE)
            lost = 2 * float(np.abs(left) @ np.abs(here.weights + step))
            return lost <= LEFT * self._tolerance or bool(np.linalg.norm(left) <= self._rounding)

        def curvature(step: Floats) -> Floats:
            return self._change(here.fit, step)

        easier = self._easier(here.fit)
        step, products = conjugate_gradients(curvature, easier, here.missing, enough, min(2 * len(here.missing), MOST))
        if products > STALE or np.abs(step).max(initial=0.0) > TURNED:
            self._solve = None
        careful: Floats = np.clip(step, -BOLD, BOLD)
        is_better = self.is_far(here, step) and here.missing @ careful > here.missing @ step / 3
        return careful if is_better else step

    def upper(self, here: Point, step: Floats, spare: float) -> float:
        """The divergence of a policy with the moments of the one measured: that of the tilted flow, if it is one.

        Where the tangent would make something negative, only as much of it is added as leaves nothing so. What
        difference in moments is left then counts for weights of up to twice the size of those found. So does what is
        cut off where it is negative but costs at most `spare`: it takes probability from where it is due, which is
        worth no more than the value of a state.
        """
        weights, on_actions = 2 * np.abs(here.weights + step), self._family.on_actions
        pairs, counts = [], np.zeros_like(here.fit.counts(on_actions))
        for flow, tangent in zip(here.fit.flow, here.fit.tangent(self._direction(step)), strict=True):
            pairs.append((flow.taken, tangent.taken))
            counts += tangent.counts(on_actions)
        cost, wrong = self._worth(weights), sum(np.count_nonzero(now + change < 0) for now, change in pairs)
        cut = max(ROUNDING, spare / (cost * max(1, wrong)))
        share = min(_share(now, change, cut) for now, change in pairs)
        left = here.missing - share * self._family.moments(counts)
        unsure = float(np.abs(left) @ weights)
        for now, change in pairs:
            taken = now + share * change
            unsure += divergence(np.maximum(taken, 0.0))
            unsure -= cost * float(taken[taken < 0].sum()) if cost < inf else 0.0
        return unsure

    def _ascend(self, zero: Point, iterations: int) -> Point:
        """What L-BFGS finds."""

        def loss(weights: Floats) -> tuple[float, Floats]:
            here = self.at(weights)
            return (-here.value, -here.missing) if here else (inf, np.zeros_like(weights))

        options = {"maxiter": iterations, "maxfun": 2 * iterations, "gtol": self._rounding, "ftol": SETTLED}
        return self.at(minimize(loss, zero.weights, jac=True, method="L-BFGS-B", options=options).x) or zero

    def _easier(self, fit: Fit) -> Callable[[Floats], Floats]:
        """About the inverse of the curvature."""
        if self._surrogate:
            if self._solve is None or not self._surrogate.is_map:  # only of maps it costs much to make
                self._solve = self._surrogate.solve(fit.deciding, fit.counts(on_actions=False))
            return self._solve
        spread = self._family.squares(fit.counts(self._family.on_actions))
        # A feature that is never met has no spread, and nothing to be made easier.
        spread = np.where(spread > self._rounding, spread, self._rounding or 1.0)
        return lambda missing: missing / spread

    def _worth(self, weights: Floats) -> float:
        """Nats by which the value of a state, and its visit, can differ from zero, both ways of what is cut off."""
        dynamics = self._process.dynamics
        utility = float(np.abs(self._family.direction(weights)).max(initial=0.0))
        return 2 * self._process.horizon * (utility + log(dynamics.n_actions)) + utility

    def _change(self, fit: Fit, step: Floats) -> Floats:
        return self._family.moments(fit.change(self._direction(step), self._family.on_actions))

    def _direction(self, step: Floats) -> Utility:
        return self._process.dynamics.utility(self._family.direction(step))


def _share(now: Floats, change: Floats, cut: float) -> float:
    """How much of a change of (A, S) actions taken leaves none of them below zero."""
    wrong = now + change < -cut
    return float((now[wrong] / -change[wrong]).min(initial=1.0))
