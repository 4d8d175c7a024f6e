"""MEG with respect to utilities that are linear in their weights: a concave
maximisation with a certificate.

The accuracy <d, U> - V(U) of predicting a policy with occupancy d is concave in U; its
gradient is the difference of occupancies, d - d_U. Upper bounds come from the dual
problem. For any policy with the same moments of the features as the measured one, <d,
U> is its expected utility too, and V(U) is at least that less its divergence from
uniform choice. So no U in the class is more accurate than that divergence, and the
least such divergence is the maximum.

Near the maximum one Newton step finds such a policy: the soft-optimal flow plus its
tangent in the direction that closes the difference in moments. It is a flow with
exactly these moments as long as nothing in it is negative.

Conjugate gradients find the Newton steps. Where weights are utilities of states,
`preconditioner` makes a few products with the curvature enough and gives the start.
"""

from collections.abc import Callable
from math import inf, log
from typing import NamedTuple

import numpy as np

from gde.data.arrays import Doubles
from gde_plugins.meg.solvers.dynamics import Utility
from gde_plugins.meg.solvers.family import Family
from gde_plugins.meg.solvers.infinite_horizon import Divergent
from gde_plugins.meg.solvers.preconditioner import initial_utility, preconditioner
from gde_plugins.meg.solvers.process import Fit, Observed, Process
from gde_plugins.meg.solvers.softmax import divergence

ROUNDING = 1e-13
"""Difference in moments, relative to their largest, that counts as none."""
FORCING = 0.1
"""Share of the difference in moments that a Newton step may leave."""
BOLD = 4.0
"""Nats by which a weight changes in a step far from the maximum."""
WORTHWHILE = 1e-6
"""Gain, in tolerances, below which no step is worth trying."""
NEAR = 1.0
"""Gain that a Newton step promises, in tolerances, below which an upper bound is
computed.
"""
MORE = 0.56
"""Share of its slope that a step must gain before twice the step is tried. A parabola
gains .5. An exponential, on which a utility goes to minus infinity, gains .63.
"""
LEFT = 0.1
"""Share of the tolerance that a bound may lose to the difference in moments that a step
leaves.
"""
MOST = 1000
"""Products with the curvature in a step at most."""
PATIENCE = 30
"""Products in a step at most for utilities of states, far from the maximum."""
CORRECTIONS = 2
"""Times that a step near the maximum is corrected by what it truly leaves of the
difference in moments: of nearly deterministic policies rounding leaves much.
"""
LONGEST = 3.0
"""Steps that a correction may be long."""
SPARE = 0.1
"""Share of the tolerance that may be spent on negative but negligible entries of a
flow.
"""


class Solution(NamedTuple):
    """The best weights found, their accuracy, and an upper bound of the maximum."""

    weights: Doubles
    value: float
    upper: float


def maximise(
    process: Process, family: Family, seen: Observed, tolerance: float, steps: int
) -> Solution:
    """Maximise the accuracy of predicting a policy over a family of utilities.

    Args:
        process: where the policy acts.
        family: the utilities.
        seen: the occupancy of the measured policy.
        tolerance: nats between the bounds at which to stop.
        steps: of Newton's method at most.

    Raises:
        Divergent: the soft value is infinite even for utility zero.
    """
    problem = Problem(process, family, seen, tolerance)
    here = problem.begin(seen)
    upper = seen.divergence
    for _ in range(steps):
        step = problem.newton_step(here)

        # An upper bound costs as much as a step, and far from the maximum it is
        # useless.
        ahead = None
        is_far = problem.is_far(here, step)
        if is_far:
            ahead = problem.along(here, step)
        if ahead is None:
            bound = problem.upper(here, step, SPARE * tolerance)
            upper = min(upper, bound)
            if not is_far:
                ahead = problem.along(here, step)

        if ahead is None:
            break
        here = ahead
        if upper - here.value <= tolerance:
            break
    return Solution(here.weights, here.value, max(here.value, upper))


class Point(NamedTuple):
    """The accuracy for some weights."""

    weights: Doubles
    value: float
    missing: Doubles
    """(K,) gradient: moments of the measured policy less those of the soft-optimal
    one.
    """
    fit: Fit


class Problem:
    """The accuracy of predicting one policy as a function of the weights."""

    def __init__(
        self, process: Process, family: Family, seen: Observed, tolerance: float
    ) -> None:
        self._process = process
        self._family = family
        self._tolerance = tolerance

        counts = seen.occupancy.counts(family.on_actions)
        self._target = family.moments(counts)
        largest = float(np.abs(self._target).max(initial=0.0))
        self._rounding = ROUNDING * largest

    def at(self, weights: Doubles) -> Point | None:
        """Evaluate the accuracy; None where the soft value is infinite, hence the
        accuracy -inf.
        """
        family = self._family
        utility = self._process.dynamics.utility(family.utility(weights))
        try:
            fit = self._process.fit(utility)
        except Divergent:
            return None

        # <d, U> - V(U) and its gradient.
        value = float(self._target @ weights) - fit.value
        moments = family.moments(fit.counts(family.on_actions))
        return Point(weights, value, self._target - moments, fit)

    def begin(self, seen: Observed) -> Point:
        """Return the start of Newton's method: a fit to single decisions, or zero."""
        where = self._family.where
        if where is not None:
            utility = initial_utility(self._process.dynamics, seen.occupancy.taken)
            start = self.at(utility[where])
            if start and start.value > 0:
                return start

        zero = self.at(np.zeros(self._family.size))
        if zero is None:
            raise Divergent(
                "no soft-optimal policy ends, whatever the utility: give a horizon or a discount below 1"
            )
        return zero

    def along(self, here: Point, step: Doubles) -> Point | None:
        """Return a better point, at the step or on the way back from it; None if there
        is none.
        """
        slope = float(here.missing @ step)
        # A concave function gains no more than its slope promises.
        while slope > WORTHWHILE * self._tolerance:
            ahead = self.at(here.weights + step)
            if ahead and ahead.value > here.value:
                gain = ahead.value - here.value
                if gain <= MORE * slope:
                    return ahead

                # The accuracy has hardly bent yet: twice the step may gain more.
                further = self.at(here.weights + 2 * step)
                if further and further.value > ahead.value:
                    return further
                return ahead

            # Go back to the top of the parabola through what is known, within bounds.
            fall = inf
            if ahead:
                fall = here.value + slope - ahead.value
            top = 0.5
            if 0 < fall < inf:
                top = slope / (2 * fall)
            shorter = min(max(top, 0.1), 0.5)
            step = shorter * step
            slope = shorter * slope
        return None

    def is_far(self, here: Point, step: Doubles) -> bool:
        """Return whether a step promises too much for a bound to be close."""
        promise = float(here.missing @ step)
        return promise > NEAR * self._tolerance

    def newton_step(self, here: Point) -> Doubles:
        """Return the change of weights that closes the difference in moments to first
        order.

        Far away, what is hardly visited moves by no more than `BOLD` if little is lost:
        it counts exponentially. Near, the remaining difference must not spoil the
        bound.
        """
        on_actions = self._family.on_actions
        most = max(self._rounding, FORCING * float(np.linalg.norm(here.missing)))

        def enough(step: Doubles, left: Doubles, products: int) -> bool:
            remaining = np.linalg.norm(left)
            if self.is_far(here, step):
                has_patience = self._family.where is None or products < PATIENCE
                return bool(remaining <= most) or not has_patience
            lost = 2 * float(np.abs(left) @ np.abs(here.weights + step))
            return lost <= LEFT * self._tolerance or bool(remaining <= self._rounding)

        def curvature(step: Doubles) -> Doubles:
            change = here.fit.change(self._direction(step), on_actions)
            return self._family.moments(change)

        precondition = self._precondition(here.fit)

        def solve(start: Doubles) -> Doubles:
            return conjugate_gradients(
                product=curvature,
                precondition=precondition,
                wanted=here.missing,
                enough=enough,
                most=min(2 * len(here.missing), MOST),
                start=start,
            )

        step = solve(np.zeros_like(here.missing))
        for _ in range(CORRECTIONS):
            if self.is_far(here, step):
                break
            corrected = solve(step)
            # In a flat direction, what is left is rounding, and its step is long.
            if np.abs(corrected - step).max() > LONGEST * np.abs(step).max():
                break
            step = corrected

        # Take the bounded step only if it keeps a third of what the whole one promises.
        careful: Doubles = np.clip(step, -BOLD, BOLD)
        if self.is_far(here, step) and here.missing @ careful > here.missing @ step / 3:
            return careful
        return step

    def upper(self, here: Point, step: Doubles, spare: float) -> float:
        """Return the divergence of a policy with the moments of the measured one: that
        of the tilted flow.

        Where the tangent would make an entry negative, only as much of it is added as
        leaves none so. The difference in moments that is left then counts for weights
        of up to twice the size of those found. Negative entries that cost at most
        `spare` are cut off. They take probability from where it is due, which is worth
        no more than the value of a state.
        """
        on_actions = self._family.on_actions
        tangents = here.fit.tangent(self._direction(step))
        pairs = []
        counts = np.zeros_like(here.fit.counts(on_actions))
        for flow, tangent in zip(here.fit.flow, tangents, strict=True):
            pairs.append((flow.taken, tangent.taken))
            counts += tangent.counts(on_actions)

        # The entries that the whole tangent makes negative share what may be spent on
        # them.
        weights = 2 * np.abs(here.weights + step)
        cost = self._worth(weights)
        wrong = 0
        for now, change in pairs:
            wrong += int(np.count_nonzero(now + change < 0))
        cut = max(ROUNDING, spare / (cost * max(1, wrong)))

        # One share for all time steps, or the sum would be no flow.
        share = 1.0
        for now, change in pairs:
            share = min(share, _feasible_share(now, change, cut))

        left = here.missing - share * self._family.moments(counts)
        bound = float(np.abs(left) @ weights)
        for now, change in pairs:
            taken = now + share * change
            bound += divergence(np.maximum(taken, 0.0))
            if cost < inf:
                negative = taken[taken < 0]
                bound -= cost * float(negative.sum())
        return bound

    def _precondition(self, fit: Fit) -> Callable[[Doubles], Doubles]:
        """Return an approximate inverse of the curvature."""
        where = self._family.where
        if where is not None:
            visits = fit.counts(on_actions=False)
            return preconditioner(self._process.dynamics, where, fit.deciding, visits)

        # A feature that is never met has no spread.
        spread = self._family.squares(fit.counts(self._family.on_actions))
        least = self._rounding or 1.0
        spread = np.where(spread > self._rounding, spread, least)
        return lambda missing: missing / spread

    def _worth(self, weights: Doubles) -> float:
        """Return the nats by which the value of a state, and its visit, can differ from
        zero in either direction.
        """
        process = self._process
        change = self._family.direction(weights)
        utility = float(np.abs(change).max(initial=0.0))
        a_step = utility + log(process.dynamics.n_actions)
        return 2 * process.horizon * a_step + utility

    def _direction(self, step: Doubles) -> Utility:
        change = self._family.direction(step)
        return self._process.dynamics.utility(change)


def _feasible_share(now: Doubles, change: Doubles, cut: float) -> float:
    """Return how much of a change of (A, S) actions taken leaves none of them below
    zero.
    """
    is_wrong = now + change < -cut
    shares = now[is_wrong] / -change[is_wrong]
    return float(shares.min(initial=1.0))


def conjugate_gradients(
    product: Callable[[Doubles], Doubles],
    precondition: Callable[[Doubles], Doubles],
    wanted: Doubles,
    enough: Callable[[Doubles, Doubles, int], bool],
    most: int,
    start: Doubles,
) -> Doubles:
    """Solve A x = b for a symmetric positive semidefinite A, until the residual
    suffices for the purpose.

    Args:
        product: A x.
        precondition: about A^-1 b. It may change from call to call, as if it is itself
            found by iteration.
        wanted: b.
        enough: whether to stop, given x, b - A x and the number of products.
        most: products at most.
        start: an x to begin with.
    """
    step = start.copy()
    left = wanted.copy()
    if start.any():
        left -= product(start)
        # Less is rounding, of which a flat direction would make a long step.
        if enough(step, left, 0):
            return step
    eased = precondition(left)
    direction = eased
    promise = float(left @ eased)
    for number in range(most):
        changed = product(direction)
        curvature = float(direction @ changed)
        if not (promise > 0 and curvature > 0):
            # Nothing but rounding is left.
            return step

        length = promise / curvature
        step += length * direction
        left -= length * changed
        n_products = number + 1
        if enough(step, left, n_products):
            return step

        # Were `precondition` exactly linear and symmetric, the ratio of promises would
        # say the same.
        eased = precondition(left)
        turned = -length * float(changed @ eased) / promise
        promise = float(left @ eased)
        direction = eased + turned * direction
    return step
