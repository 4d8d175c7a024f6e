"""The maximum of a concave function of one variable that is at least zero, between
certified bounds.
"""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from gde_plugins.meg.solvers.limits import NO_LIMIT, Limit

BEYOND = 40.0
"""At a rationality of this over the smallest gap, an inferior action weighs exp(-40):
the policy is as in the limit.
"""
PATIENCE = 4
"""Evaluations after which, the maximum still being ahead, the limit at infinity is
computed.
"""
FIRST_STEP = 1.0
"""At most; each further one at most quadruples the rationality."""


class Point(NamedTuple):
    """The accuracy, in nats above chance, at one rationality."""

    beta: float
    value: float
    slope: float
    curvature: float
    """The negative of the second derivative."""


class Optimum(NamedTuple):
    """The maximum of the accuracy, with bounds."""

    beta: float
    value: float
    lower: float
    upper: float
    tolerance: float = 0.0
    """That of the limit, if it was computed."""


class Bracket(NamedTuple):
    """Points on both sides of the maximum; none above as long as none was found."""

    low: Point
    high: Point | None

    def with_point(self, point: Point) -> "Bracket":
        """Narrow the bracket by another point."""
        is_before = point.slope > 0
        if is_before:
            return Bracket(point, self.high)
        return Bracket(self.low, point)

    def best(self) -> Point:
        """Return the better of both ends."""
        if self.high is None or self.low.value >= self.high.value:
            return self.low
        return self.high

    def upper(self) -> float:
        """Return the height where the tangents at both ends meet: a concave function
        lies below its tangents.
        """
        low = self.low
        high = self.high
        if high is None:
            return inf
        width = high.beta - low.beta
        if high.value == -inf:
            return low.value + low.slope * width

        # How far the tangent at the upper end, read off at the lower one, lies below
        # the value there.
        falls = low.value - high.value - high.slope * (low.beta - high.beta)
        meet = low.value - low.slope * falls / (low.slope - high.slope)
        return max(meet, self.best().value)

    def next(self) -> float:
        """Return Newton's step, at least doubling while the bracket is open and
        bisecting where it would leave it.
        """
        low = self.low
        high = self.high
        if high is None:
            newton = _newton(low)
            least = 2 * low.beta
            most = max(FIRST_STEP, 4 * low.beta)
            return min(max(newton, least), most)

        # The flatter end is mostly the closer one.
        origin = self.best() if low.slope < -high.slope else high
        newton = _newton(origin)
        if low.beta < newton < high.beta:
            return newton
        return (low.beta + high.beta) / 2


def _newton(point: Point) -> float:
    """Return where the slope would be zero if the curvature stayed the same."""
    if point.curvature > 0:
        return point.beta + point.slope / point.curvature
    return inf


def climb(
    accuracy: Callable[[float], Point],
    start: Point,
    utility: float,
    find_limit: Callable[[], Limit],
    tolerance: float,
    iterations: int,
    largest: float = inf,
) -> Optimum:
    """Maximise the accuracy over a rationality of at least zero.

    Args:
        accuracy: concave.
        start: the accuracy at zero, where it is zero and does not fall.
        utility: the policy's expected utility.
        find_limit: computes soft-optimal behaviour at infinite rationality, where the
            search seems to go there. Since the soft value is at least that of the limit
            policy, the accuracy never exceeds that policy's divergence from uniform
            choice, and approaches it if and only if the measured policy is optimal.
        tolerance: nats between the bounds at which to stop.
        iterations: evaluations before giving up.
        largest: rationality beyond which rounding leaves nothing of the accuracy: not
            tried.
    """
    if start.slope <= 0:
        return Optimum(0.0, 0.0, 0.0, 0.0)

    bracket = Bracket(start, None)
    limit = NO_LIMIT
    for number in range(iterations + 1):
        beta = bracket.next()
        is_between = bracket.low.beta < beta and (
            bracket.high is None or beta < bracket.high.beta
        )
        is_over = number == iterations or beta > largest or not is_between

        # The limit costs as much as a point or two, and is needed only if the maximum
        # may be at infinity.
        is_open = bracket.high is None and limit is NO_LIMIT
        if is_open and (is_over or number >= PATIENCE):
            limit = find_limit()
            shortfall = limit.utility - utility
            is_optimal = shortfall <= limit.tolerance and limit.gap * largest >= BEYOND
            if is_optimal and (found := _at_infinity(accuracy, limit, tolerance)):
                return found

        upper = min(bracket.upper(), limit.divergence)
        if is_over or upper - bracket.best().value <= tolerance:
            break
        bracket = bracket.with_point(accuracy(beta))

    # The start is worth zero, which rounding may leave a later point below.
    best = max(start, bracket.best(), key=lambda point: point.value)
    upper = min(bracket.upper(), limit.divergence)
    return Optimum(
        beta=best.beta,
        value=best.value,
        lower=best.value,
        upper=max(upper, best.value),
        tolerance=limit.tolerance,
    )


def _at_infinity(
    accuracy: Callable[[float], Point], limit: Limit, tolerance: float
) -> Optimum | None:
    """Return the maximum of an optimal policy, if it is seen to be at infinity."""
    if not tolerance < limit.divergence < inf:
        return None

    # Far enough out the accuracy must have come close to what it tends to.
    beyond = accuracy(BEYOND / limit.gap)
    if limit.divergence - beyond.value > tolerance:
        return None
    return Optimum(
        beta=inf,
        value=limit.divergence,
        lower=min(beyond.value, limit.divergence),
        upper=limit.divergence,
        tolerance=limit.tolerance,
    )
