"""The maximum of a concave function of one variable that is at least zero, between certified bounds."""

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from gde_plugins.meg.solvers.limits import Limit

BEYOND = 40.0
"""At a rationality of this over the smallest gap, an inferior action weighs exp(-40): the policy is as in the limit."""
PATIENCE = 4
"""Evaluations after which, the maximum still being ahead, the limit at infinity is computed."""
NO_LIMIT = Limit(inf, inf, inf, 0.0)
"""In place of a limit that was not computed."""


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
        return self._replace(low=point) if point.slope > 0 else self._replace(high=point)

    def best(self) -> Point:
        """Return the better of both ends."""
        return self.low if self.high is None or self.low.value >= self.high.value else self.high

    def upper(self) -> float:
        """Return the height where the tangents at both ends meet: a concave function lies below its tangents."""
        if self.high is None:
            return inf
        low = self.low
        high = self.high
        if high.value == -inf:
            return low.value + low.slope * (high.beta - low.beta)
        falls = low.value - high.value - high.slope * (low.beta - high.beta)
        meet = low.value - low.slope * falls / (low.slope - high.slope)
        return max(meet, self.best().value)

    def next(self, unit: float) -> float:
        """Return Newton's step, at least doubling while the bracket is open and bisecting where it would leave it."""
        from_here = self.best() if self.high is None or self.low.slope < -self.high.slope else self.high
        newton = from_here.beta + from_here.slope / from_here.curvature if from_here.curvature > 0 else inf
        if self.high is None:
            return min(max(newton, 2 * self.low.beta), max(unit, 4 * self.low.beta))
        inside = self.low.beta < newton < self.high.beta
        return newton if inside else (self.low.beta + self.high.beta) / 2


def climb(
    accuracy: Callable[[float], Point],
    start: Point,
    utility: float,
    find_limit: Callable[[], Limit],
    unit: float,
    tolerance: float,
    iterations: int,
    largest: float = inf,
) -> Optimum:
    """Maximise the accuracy over a rationality of at least zero.

    Args:
        accuracy: concave.
        start: the accuracy at zero, where it is zero and does not fall.
        utility: the policy's expected utility.
        find_limit: computes soft-optimal behaviour at infinite rationality, where the search seems to go there. Since
            the soft value is at least that of the limit policy, the accuracy never exceeds that policy's divergence
            from uniform choice, and approaches it if and only if the measured policy is optimal.
        unit: the first step at most; each further one at most quadruples the rationality.
        tolerance: nats between the bounds at which to stop.
        iterations: evaluations before giving up.
        largest: rationality beyond which rounding leaves nothing of the accuracy: not tried.
    """
    if start.slope <= 0:
        return Optimum(0.0, 0.0, 0.0, 0.0)
    bracket = Bracket(start, None)
    limit = NO_LIMIT
    for number in range(iterations + 1):
        beta = bracket.next(unit)
        between = bracket.low.beta < beta and (bracket.high is None or beta < bracket.high.beta)
        over = number == iterations or beta > largest or not between
        if bracket.high is None and limit is NO_LIMIT and (over or number >= PATIENCE):
            limit = find_limit()
            is_optimal = limit.utility - utility <= limit.tolerance and limit.gap * largest >= BEYOND
            found = _at_infinity(accuracy, limit, tolerance) if is_optimal else None
            if found:
                return found
        if over or min(bracket.upper(), limit.divergence) - bracket.best().value <= tolerance:
            break
        bracket = bracket.with_point(accuracy(beta))
    best = max(start, bracket.best(), key=lambda point: point.value)
    upper = max(min(bracket.upper(), limit.divergence), best.value)
    return Optimum(best.beta, best.value, best.value, upper, limit.tolerance)


def _at_infinity(accuracy: Callable[[float], Point], limit: Limit, tolerance: float) -> Optimum | None:
    """Return the maximum of an optimal policy, if it is seen to be at infinity."""
    if not tolerance < limit.divergence < inf:
        return None
    beyond = accuracy(BEYOND / limit.gap)
    if limit.divergence - beyond.value > tolerance:
        return None
    return Optimum(inf, limit.divergence, min(beyond.value, limit.divergence), limit.divergence, limit.tolerance)
