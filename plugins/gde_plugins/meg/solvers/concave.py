"""MEG with respect to a class of utilities that is linear in its weights: a concave maximisation with a certificate.

The accuracy <d, U> - V(U) of predicting a policy with occupancy d is concave in U; its gradient is the difference of
occupancies, d - d_U. Bounds from above come from the dual problem. For any policy with the same moments of the features
as the one measured, <d, U> is its expected utility too, and V(U) is at least that less its divergence from random
choice. So no U in the class is more accurate than that divergence, and the least such divergence is the maximum.

Near the maximum such a policy is found by one Newton step: the soft-optimal flow plus its tangent in the direction that
closes the difference in moments, which is a flow with exactly these moments as long as nothing in it is negative.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import diags_array
from scipy.sparse.linalg import LinearOperator, cg

from gde.data.mdp import Floats, Policy
from gde_plugins.meg.solvers.dynamics import Occupancy, Utility
from gde_plugins.meg.solvers.family import Family
from gde_plugins.meg.solvers.process import Observed
from gde_plugins.meg.solvers.protocol import Fit, Process
from gde_plugins.meg.solvers.softmax import divergence
from gde_plugins.meg.solvers.stationary_fit import Divergent

ROUNDING = 1e-13
"""Difference in moments, relative to their largest, that cannot be told from none."""
SETTLED = 1e-10
"""Relative gain a step at which L-BFGS gives over to Newton's method."""
POLISHING = 50
"""Newton steps at most, after L-BFGS."""


class Solution(NamedTuple):
    """The best weights found and what is known about the maximum."""

    weights: Floats
    value: float
    upper: float


def maximise(
    process: Process, family: Family, policy: Policy, seen: Observed, tolerance: float, iterations: int
) -> Solution:
    """Maximise the accuracy of predicting a policy over a family of utilities, by L-BFGS from zero and Newton's method.

    Args:
        process: where it acts.
        family: of utilities.
        policy: the one measured.
        seen: what it does.
        tolerance: nats between the bounds at which to stop.
        iterations: of L-BFGS.
    """
    problem = Problem(process, family, policy, seen)
    here, upper = problem.ascend(iterations), seen.divergence
    for _ in range(POLISHING):
        step = problem.newton_step(here)
        upper = min(upper, problem.upper(here, step))
        better = problem.along(here, step) if upper - here.value > tolerance else None
        if better is None:
            break
        here = better
    return Solution(here.weights, here.value, max(here.value, upper))


class Point(NamedTuple):
    """The accuracy for some weights."""

    weights: Floats
    value: float
    fit: Fit


class Problem:
    """The accuracy of predicting one policy as a function of the weights."""

    def __init__(self, process: Process, family: Family, policy: Policy, seen: Observed) -> None:
        self._process, self._family, self._policy, self._seen = process, family, policy, seen
        self._target = family.moments(seen.occupancy)
        self._rounding = ROUNDING * float(np.abs(self._target).max(initial=0.0))

    def at(self, weights: Floats) -> Point | None:
        """None where the soft value is infinite, hence the accuracy -inf."""
        try:
            fit = self._process.fit(self._process.dynamics.utility(self._family.utility(weights)))
        except Divergent:
            return None
        return Point(weights, float(self._target @ weights) - fit.value, fit)

    def missing(self, flow: Sequence[Occupancy]) -> Floats:
        """(K,) the gradient: by how much the moments of a flow fall short of the policy's."""
        return self._target - self._family.moments(Occupancy.total(flow))

    def ascend(self, iterations: int) -> Point:
        """What L-BFGS finds from zero."""

        def loss(weights: Floats) -> tuple[float, Floats]:
            here = self.at(weights)
            return (-here.value, -self.missing(here.fit.flow)) if here else (inf, np.zeros_like(weights))

        start = np.zeros(self._family.size)
        options = {"maxiter": iterations, "maxfun": 2 * iterations, "gtol": self._rounding, "ftol": SETTLED}
        found = self.at(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x) or self.at(start)
        if found is None:
            raise Divergent("no soft-optimal policy ends, whatever the utility: give a horizon or a discount below 1")
        return found

    def along(self, here: Point, step: Floats) -> Point | None:
        """A better point, at the step or on the way back from it; None if there is none."""
        while np.abs(step).max(initial=0.0) > ROUNDING:
            ahead = self.at(here.weights + step)
            if ahead and ahead.value > here.value:
                return ahead
            step = step / 2
        return None

    def newton_step(self, here: Point) -> Floats:
        """The change of weights that closes the difference in moments to first order, by conjugate gradients."""
        size = self._family.size
        curvature = LinearOperator((size, size), matvec=lambda step: self._change(here.fit, step), dtype=np.float64)
        spread = self._family.squares(Occupancy.total(here.fit.flow))
        # A feature that is never met has no spread, and nothing to be made easier.
        easier = diags_array(1 / np.where(spread > self._rounding, spread, self._rounding or 1.0))
        step, _ = cg(curvature, self.missing(here.fit.flow), rtol=0.0, atol=self._rounding, maxiter=2 * size, M=easier)
        return np.asarray(step, dtype=np.float64)

    def upper(self, here: Point, step: Floats) -> float:
        """The divergence of a policy with the moments of the one measured: that of the tilted flow, if it is one.

        Where the tangent would make something negative, as much of the policy's own flow is mixed in as it takes. What
        difference in moments is left counts for weights of up to twice the size of those found.
        """
        fit = here.fit
        tangent = fit.tangent(self._direction(step))
        tilted = [now.taken + change.taken for now, change in zip(fit.flow, tangent, strict=True)]
        own = [now.taken for now in self._process.flow_of(self._policy)]
        share = max(_share(*pair) for pair in zip(tilted, own, strict=True))
        mixed = ((1 - share) * taken + share * actual for taken, actual in zip(tilted, own, strict=True))
        left = np.abs(self.missing([*fit.flow, *tangent])) @ np.abs(2 * (here.weights + step))
        return float(left) + sum(divergence(np.maximum(taken, 0.0)) for taken in mixed)

    def _change(self, fit: Fit, step: Floats) -> Floats:
        return self._family.moments(Occupancy.total(fit.tangent(self._direction(step))))

    def _direction(self, step: Floats) -> Utility:
        return self._process.dynamics.utility(self._family.direction(step))


def _share(tilted: Floats, own: Floats) -> float:
    """How much of one's own (A, S) actions makes a mixture nowhere negative."""
    negative = tilted < -ROUNDING
    return float((tilted[negative] / (tilted[negative] - own[negative])).max(initial=0.0))
