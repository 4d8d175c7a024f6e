"""All policies of a small diagram as a cube, and bounds of what the policies in a box of it do.

With K rows of two options each, a policy is a point of the unit cube. The expected utility and how often a row is
reached are linear in every coordinate, so on a box their extremes are at its corners; entropies of rows are monotone on
both sides of one half.
"""

from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logit

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

MOST_ROWS = 4
"""Rows of decisions, each a coordinate."""


class Boxes(NamedTuple):
    """N boxes of policies."""

    low: Floats
    """(N, K)."""
    high: Floats

    def halves(self) -> "Boxes":
        """Each cut in two, across its widest side."""
        side = (self.high - self.low).argmax(axis=1)
        each = np.arange(len(side))
        middle = (self.low[each, side] + self.high[each, side]) / 2
        low, high = np.tile(self.low, (2, 1)), np.tile(self.high, (2, 1))
        high[each, side] = middle
        low[len(side) + each, side] = middle
        return Boxes(low, high)

    def where(self, kept: NDArray[np.bool_]) -> "Boxes":
        """Some of them."""
        return Boxes(self.low[kept], self.high[kept])


@dataclass(frozen=True, eq=False)
class Cube:
    """The policies of a decision problem, as far as their bounds are concerned."""

    worth: Floats
    """(2,) * K expected utility at the corners."""
    reach: Floats
    """(K, *(2,) * K) how often each row is reached at the corners."""
    taken: Floats
    """(K, 2) probability that the measured agent is in a row and takes an option."""

    @classmethod
    def of(cls, problem: DecisionProblem, utility: Floats) -> "Cube | None":
        """None where the diagram is too large, or a decision has not two options."""
        rows = [(name, *row) for name, table in problem.policy.items() for row in np.ndindex(table.shape[:-1])]
        if len(rows) > MOST_ROWS or any(table.shape[-1] != 2 for table in problem.policy.values()):
            return None
        shape = (2,) * len(rows)
        worth, reach = np.empty(shape), np.empty((len(rows), *shape))
        for corner in np.ndindex(shape):
            policies = policies_at(problem, np.array(corner, dtype=float))
            worth[corner] = problem.outcomes(policies) @ utility
            reach[(slice(None), *corner)] = _reached(problem, policies)
        done = _reached(problem, problem.policy)
        shares = np.concatenate([problem.policy[name].reshape(-1, 2) for name in problem.decisions])
        return cls(worth, reach, done[:, None] * shares)

    def utilities(self, boxes: Boxes) -> tuple[Floats, Floats]:
        """(N,) least and most expected utility."""
        return _range(self.worth, boxes)

    def accuracies(self, boxes: Boxes) -> Floats:
        """(N,) the most that is predicted, in nats above chance."""
        total = self.taken.sum(axis=1)
        own = np.divide(self.taken[:, 1], total, where=total > 0, out=np.full(len(total), 0.5))
        nearest = np.clip(own, boxes.low, boxes.high)
        with np.errstate(divide="ignore", invalid="ignore"):
            pairs = zip(self.taken.T, (1 - nearest, nearest), strict=True)
            nats = sum(np.where(p > 0, p * np.log(2 * q), 0.0) for p, q in pairs)
        return np.asarray(np.asarray(nats).sum(axis=1))

    def entropies(self, boxes: Boxes) -> tuple[Floats, Floats]:
        """(N,) at most and at least the entropy that there is in a box."""
        least, most = _surprise(boxes)
        corners = [_corners(table, boxes) for table in self.reach]
        low = sum(each * least[:, [i]] for i, each in enumerate(corners))
        high = sum(each * most[:, [i]] for i, each in enumerate(corners))
        return np.asarray(low).min(axis=1), np.asarray(high).max(axis=1)

    def gradients(self, point: Floats) -> tuple[Floats, Floats]:
        """(K,) of entropy and of utility, at a point."""
        here = Boxes(point[None], point[None])
        rows = range(len(self.reach))
        tilts, slopes = [self._tilt(i, here)[0][0] for i in rows], [_slope(self.worth, i, here)[0][0] for i in rows]
        return np.array(tilts), np.array(slopes)

    def may_be_stationary(self, boxes: Boxes) -> NDArray[np.bool_]:
        """(N,) whether the gradients of entropy and utility may be parallel somewhere, for all that bounds say."""
        slopes = [_slope(self.worth, i, boxes) for i in range(len(self.reach))]
        tilts = [self._tilt(i, boxes) for i in range(len(self.reach))]
        possible = np.ones(len(boxes.low), dtype=bool)
        for i in range(len(slopes)):
            for j in range(i):
                one, other = _times(tilts[i], slopes[j]), _times(tilts[j], slopes[i])
                possible &= ~((one[0] > other[1]) | (other[0] > one[1]))
        return possible

    def _tilt(self, row: int, boxes: Boxes) -> tuple[Floats, Floats]:
        """(N,) bounds of the derivative of the entropy by one coordinate."""
        with np.errstate(divide="ignore"):
            steep = -logit(boxes.high[:, row]), -logit(boxes.low[:, row])
        low, high = _times(_range(self.reach[row], boxes), steep)
        least, most = _surprise(boxes)
        for other in range(len(self.reach)):
            if other != row:
                more = _times(_slope(self.reach[other], row, boxes), (least[:, other], most[:, other]))
                low, high = low + more[0], high + more[1]
        return low, high


def policies_at(problem: DecisionProblem, point: Floats) -> Policies:
    """The policies of a point: the probability of the second option in each row."""
    policies, first = {}, 0
    for name, table in problem.policy.items():
        n = prod(table.shape[:-1])
        second = point[first : first + n].reshape(table.shape[:-1])
        policies[name], first = np.stack([1 - second, second], axis=-1), first + n
    return policies


def point_of(policies: Policies) -> Floats:
    """The inverse of `policies_at`."""
    return np.concatenate([table[..., 1].ravel() for table in policies.values()])


def _reached(problem: DecisionProblem, policies: Policies) -> Floats:
    """(K,) probability of every row."""
    rows = [
        problem.marginal(problem.distribution(policies), problem.families[name]).sum(axis=-1).ravel()
        for name in problem.decisions
    ]
    return np.concatenate(rows)


def _corners(table: Floats, boxes: Boxes) -> Floats:
    """(N, 2**K) what is linear in every coordinate, given at the corners of the cube, at the corners of boxes."""
    n, values = len(boxes.low), table[None]
    for axis in range(table.ndim):
        first, second = np.take(values, 0, axis=1), np.take(values, 1, axis=1)
        sides = [side[:, axis].reshape(n, *(1,) * (first.ndim - 1)) for side in (boxes.low, boxes.high)]
        values = np.stack([first * (1 - side) + second * side for side in sides], axis=-1)
    return np.asarray(values.reshape(n, -1))


def _range(table: Floats, boxes: Boxes) -> tuple[Floats, Floats]:
    corners = _corners(table, boxes)
    return corners.min(axis=1), corners.max(axis=1)


def _slope(table: Floats, axis: int, boxes: Boxes) -> tuple[Floats, Floats]:
    """(N,) bounds of the derivative by one coordinate."""
    change = np.take(table, 1, axis=axis) - np.take(table, 0, axis=axis)
    others = [other for other in range(table.ndim) if other != axis]
    return _range(change, Boxes(boxes.low[:, others], boxes.high[:, others]))


def _times(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Bounds of a product; zero times infinity is zero, as nobody who is nowhere has entropy there."""
    with np.errstate(invalid="ignore"):
        products = np.nan_to_num(np.stack([a * b for a in one for b in other]), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return products.min(axis=0), products.max(axis=0)


def _surprise(boxes: Boxes) -> tuple[Floats, Floats]:
    """(N, K) least and most entropy of a choice between two."""
    low, high = (entr(share) + entr(1 - share) for share in boxes)
    inside = (boxes.low < 0.5) & (boxes.high > 0.5)
    return np.minimum(low, high), np.where(inside, np.log(2), np.maximum(low, high))
