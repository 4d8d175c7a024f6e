"""All policies of a small diagram as a product of simplices, and bounds of what the policies in a part of it do.

A row of a decision with n options is a simplex of n corners, and a cell is a product of smaller simplices, one of each
row. The expected utility and how often a row is reached are linear in every row, so in a cell their extremes are where
every row is at a corner; entropy and log-probability are bounded row by row, by weak duality.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, xlogy

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

MOST_DIMENSIONS = 4
"""Free probabilities: of all rows together, options less one."""
HALVINGS = 60
"""Of an interval that holds the Lagrange multiplier of a row; any gives a bound, the right one the closest."""
ROUNDING = 1e-15
"""Error of a sum of probabilities."""

Range = tuple[Floats, Floats]
"""(N,) or (N, n) lower and upper bounds."""


@dataclass(frozen=True, eq=False)
class Cells:
    """N products of simplices."""

    rows: tuple[Floats, ...]
    """For each row (N, n, n): the corners of its simplex, and the probability of each option there."""

    def __len__(self) -> int:
        return len(self.rows[0])

    def halves(self) -> "Cells":
        """Each cut in two, across the longest edge of its longest row."""
        sides = [np.abs(each[:, :, None] - each[:, None]).max(axis=-1).reshape(len(each), -1) for each in self.rows]
        longest = np.stack([each.max(axis=1) for each in sides], axis=1).argmax(axis=1)
        pairs = []
        for row, (corners, side) in enumerate(zip(self.rows, sides, strict=True)):
            first, second, cut = corners.copy(), corners.copy(), np.flatnonzero(longest == row)
            one, other = np.divmod(side[cut].argmax(axis=1), corners.shape[1])
            first[cut, other] = second[cut, one] = (corners[cut, one] + corners[cut, other]) / 2
            pairs.append(np.concatenate([first, second]))
        return Cells(tuple(pairs))

    def where(self, kept: NDArray[np.bool_]) -> "Cells":
        """Some of them."""
        return Cells(tuple(each[kept] for each in self.rows))

    def without(self, row: int) -> "Cells":
        """The other rows."""
        return Cells(self.rows[:row] + self.rows[row + 1 :])

    @cached_property
    def sides(self) -> list[Range]:
        """For each row (N, n) the least and the largest probability of each option."""
        return [(each.min(axis=1), each.max(axis=1)) for each in self.rows]

    @cached_property
    def surprise(self) -> list[Range]:
        """For each row (N,) least and most entropy."""
        found = []
        for corners, (low, high) in zip(self.rows, self.sides, strict=True):
            level = _level(np.ones(corners.shape[1]), low, high)
            filled = np.clip(level, low, high)
            most = entr(filled).sum(axis=1) - (1 + np.log(level[:, 0])) * (1 - filled.sum(axis=1))
            found.append((entr(corners).sum(axis=2).min(axis=1), np.minimum(most, log(corners.shape[1]))))
        return found


@dataclass(frozen=True, eq=False)
class Simplices:
    """The policies of a decision problem, as far as their bounds are concerned; K rows of n_k options."""

    worth: Floats
    """(n_1, ..., n_K) expected utility where every row is at a corner."""
    reach: tuple[Floats, ...]
    """For each row (n_1, ..., n_K): how often it is reached there."""
    taken: tuple[Floats, ...]
    """For each row (n,): probability that the measured agent is in it and takes an option."""

    @classmethod
    def of(cls, problem: DecisionProblem, utility: Floats) -> "Simplices | None":
        """None where the diagram is too large."""
        options = [each.shape[-1] for each in problem.policy.values() for _ in np.ndindex(each.shape[:-1])]
        if sum(options) - len(options) > MOST_DIMENSIONS:
            return None
        worth, reach = np.empty(options), np.empty((len(options), *options))
        for corner in np.ndindex(*options):
            pure = np.concatenate([np.eye(n)[chosen] for n, chosen in zip(options, corner, strict=True)])
            policies = policies_at(problem, pure)
            worth[corner] = problem.outcomes(policies) @ utility
            reach[(slice(None), *corner)] = _reached(problem, policies)
        done = zip(_reached(problem, problem.policy), _rows(point_of(problem.policy), options), strict=True)
        return cls(worth, tuple(reach), tuple(often * shares for often, shares in done))

    def whole(self) -> Cells:
        """All policies."""
        return Cells(tuple(np.eye(n)[None] for n in self.worth.shape))

    def at(self, point: Floats) -> Cells:
        """A single policy."""
        return Cells(tuple(np.tile(row, (1, len(row), 1)) for row in _rows(point, self.worth.shape)))

    def utilities(self, cells: Cells) -> Range:
        """(N,) least and most expected utility."""
        return _range(self.worth, cells)

    def accuracy(self, point: Floats) -> float:
        """What a policy predicts, in nats above chance."""
        rows = zip(self.taken, _rows(point, self.worth.shape), strict=True)
        return float(sum(xlogy(taken, len(row) * row).sum() for taken, row in rows))

    def accuracies(self, cells: Cells) -> Floats:
        """(N,) the most that is predicted, in nats above chance."""
        total = np.zeros(len(cells))
        for taken, (low, high) in zip(self.taken, cells.sides, strict=True):
            if taken.any():
                level = _level(taken, low, high)
                filled, rate = np.clip(taken * level, low, high), 1 / level[:, 0]
                slack = rate * (1 - filled.sum(axis=1) + ROUNDING)
                total += xlogy(taken, len(taken) * filled).sum(axis=1) + slack
        return total

    def entropies(self, cells: Cells) -> Range:
        """(N,) at most and at least the entropy that there is in a cell."""
        low = high = np.zeros((1, 1))
        for reach, (least, most) in zip(self.reach, cells.surprise, strict=True):
            often = _corners(reach, cells)
            low, high = low + often * least[:, None], high + often * most[:, None]
        return low.min(axis=1), high.max(axis=1)

    def gradients(self, point: Floats) -> tuple[Floats, Floats]:
        """(sum of n - 1,) of entropy and of utility, each from the last option of a row to another."""
        tilts, slopes = self._derivatives(self.at(point))
        return np.array([low[0] for low, _ in tilts]), np.array([low[0] for low, _ in slopes])

    def may_be_stationary(self, cells: Cells) -> NDArray[np.bool_]:
        """(N,) whether the gradients of entropy and utility may be parallel somewhere, for all that bounds say."""
        tilts, slopes = self._derivatives(cells)
        possible = np.ones(len(cells), dtype=bool)
        for i in range(len(slopes)):
            for j in range(i):
                one, other = _times(tilts[i], slopes[j]), _times(tilts[j], slopes[i])
                possible &= ~((one[0] > other[1]) | (other[0] > one[1]))
        return possible

    def _derivatives(self, cells: Cells) -> tuple[list[Range], list[Range]]:
        """Of entropy and of utility, in each direction from the last option of a row to another."""
        ways = [(row, option) for row, n in enumerate(self.worth.shape) for option in range(n - 1)]
        return [self._tilt(*way, cells) for way in ways], [_slope(self.worth, *way, cells) for way in ways]

    def _tilt(self, row: int, option: int, cells: Cells) -> Range:
        least, most = cells.sides[row]
        with np.errstate(divide="ignore", invalid="ignore"):  # `_times` sees to what is infinite, and to NaN
            low, high = np.log(least), np.log(most)
            steep = low[:, -1] - high[:, option], high[:, -1] - low[:, option]
        low, high = _times(_range(self.reach[row], cells), steep)
        for other, reach in enumerate(self.reach):
            if other != row:
                more = _times(_slope(reach, row, option, cells), cells.surprise[other])
                low, high = low + more[0], high + more[1]
        return low, high


def policies_at(problem: DecisionProblem, point: Floats) -> Policies:
    """The policies of a point: the probabilities of all rows, one after the other."""
    policies, first = {}, 0
    for name, table in problem.policy.items():
        policies[name] = point[first : first + table.size].reshape(table.shape)
        first += table.size
    return policies


def point_of(policies: Policies) -> Floats:
    """The inverse of `policies_at`."""
    return np.concatenate([table.ravel() for table in policies.values()])


def _rows(point: Floats, options: "tuple[int, ...] | list[int]") -> list[Floats]:
    return np.split(point, np.cumsum(options)[:-1])


def _reached(problem: DecisionProblem, policies: Policies) -> Floats:
    """(K,) probability of every row."""
    done = problem.distribution(policies)
    rows = [problem.marginal(done, problem.families[name]).sum(axis=-1).ravel() for name in problem.decisions]
    return np.concatenate(rows)


def _level(weights: Floats, low: Floats, high: Floats) -> Floats:
    """(N, 1) c, above 0, for which the weights (n,) times c, clipped to (N, n) bounds, sum to one, or nearly."""
    used = weights > 0
    below, above = low[:, used] / weights[used], high[:, used] / weights[used]
    bottom, top = below.min(axis=1, keepdims=True), np.maximum(above.max(axis=1, keepdims=True), ROUNDING)
    for _ in range(HALVINGS):
        middle = (bottom + top) / 2
        enough = np.clip(weights * middle, low, high).sum(axis=1, keepdims=True) >= 1
        bottom, top = np.where(enough, bottom, middle), np.where(enough, middle, top)
    return np.asarray(top)


def _corners(table: Floats, cells: Cells) -> Floats:
    """(N, prod of n) what is linear in every row, given where all are at corners, at the corners of cells."""
    values = table.reshape(1, -1)
    for corners in cells.rows:
        n = corners.shape[1]
        values = np.swapaxes(corners @ values.reshape(len(values), n, -1), 1, 2).reshape(len(corners), -1)
    return np.asarray(values)


def _range(table: Floats, cells: Cells) -> Range:
    corners = _corners(table, cells)
    return corners.min(axis=1), corners.max(axis=1)


def _slope(table: Floats, row: int, option: int, cells: Cells) -> Range:
    """(N,) bounds of the derivative from the last option of a row to another."""
    change = np.take(table, option, axis=row) - np.take(table, -1, axis=row)
    return _range(change, cells.without(row))


def _times(one: Range, other: Range) -> Range:
    """Bounds of a product; zero times infinity is zero, as nobody who is nowhere has entropy there."""
    with np.errstate(invalid="ignore"):
        products = np.nan_to_num(np.stack([a * b for a in one for b in other]), nan=0.0, posinf=np.inf, neginf=-np.inf)
    return products.min(axis=0), products.max(axis=0)
