"""All policies of a small diagram as a product of simplices, and bounds over parts of it.

A row of a decision (one joint value of its parents) with n options is a simplex of n corners. A cell is a product of
smaller simplices, one of each row. The expected utility and the probability of reaching a row are linear in every row,
so their extremes over a cell are where every row is at a corner. Entropy and log-probability are bounded row by row, by
weak duality.
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
"""Free probabilities: the options of all rows together, less one each."""
HALVINGS = 60
"""Halvings of an interval that holds the Lagrange multiplier of a row; any gives a bound, the right one the closest."""
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
        """Cut each cell in two, across the longest edge of its longest row."""
        edges = []
        for corners in self.rows:
            between = np.abs(corners[:, :, None] - corners[:, None]).max(axis=-1)
            edges.append(between.reshape(len(corners), -1))
        longest = np.stack([each.max(axis=1) for each in edges], axis=1).argmax(axis=1)

        halved = []
        for row, corners in enumerate(self.rows):
            first = corners.copy()
            second = corners.copy()
            cut = np.flatnonzero(longest == row)
            one, other = np.divmod(edges[row][cut].argmax(axis=1), corners.shape[1])
            middle = (corners[cut, one] + corners[cut, other]) / 2
            first[cut, other] = middle
            second[cut, one] = middle
            halved.append(np.concatenate([first, second]))
        return Cells(tuple(halved))

    def where(self, chosen: NDArray[np.bool_]) -> "Cells":
        """Select the cells of which (N,) `chosen` holds."""
        return Cells(tuple(each[chosen] for each in self.rows))

    def without(self, row: int) -> "Cells":
        """Drop one row."""
        return Cells(self.rows[:row] + self.rows[row + 1 :])

    @cached_property
    def sides(self) -> list[Range]:
        """For each row (N, n) the least and the largest probability of each option."""
        return [(each.min(axis=1), each.max(axis=1)) for each in self.rows]

    @cached_property
    def surprise(self) -> list[Range]:
        """For each row (N,) bounds of its entropy."""
        found = []
        for corners, (low, high) in zip(self.rows, self.sides, strict=True):
            # Entropy is concave, so the least is at a corner; the most is bounded by the dual.
            least = entr(corners).sum(axis=2).min(axis=1)
            level = _water_level(np.ones(corners.shape[1]), low, high)
            filled = np.clip(level, low, high)
            most = entr(filled).sum(axis=1) - (1 + np.log(level[:, 0])) * (1 - filled.sum(axis=1))
            found.append((least, np.minimum(most, log(corners.shape[1]))))
        return found


@dataclass(frozen=True, eq=False)
class Simplices:
    """The policies of a decision problem, as K rows of n_k options."""

    worth: Floats
    """(n_1, ..., n_K) expected utility where every row is at a corner."""
    reach: tuple[Floats, ...]
    """For each row (n_1, ..., n_K): the probability of reaching it there."""
    taken: tuple[Floats, ...]
    """For each row (n,): probability that the measured agent is in it and takes an option."""

    @classmethod
    def of(cls, problem: DecisionProblem, utility: Floats) -> "Simplices | None":
        """Tabulate the problem for one utility (n_outcomes,); None where the diagram is too large."""
        options: list[int] = []
        for table in problem.policy.values():
            n_rows = table.size // table.shape[-1]
            options += [table.shape[-1]] * n_rows
        if sum(options) - len(options) > MOST_DIMENSIONS:
            return None

        worth = np.empty(options)
        reach = np.empty((len(options), *options))
        for corner in np.ndindex(*options):
            pure = np.concatenate([np.eye(n)[chosen] for n, chosen in zip(options, corner, strict=True)])
            policies = policies_at(problem, pure)
            worth[corner] = problem.outcomes(policies) @ utility
            reach[(slice(None), *corner)] = _reached(problem, policies)

        shares = _split_rows(point_of(problem.policy), options)
        taken = [often * share for often, share in zip(_reached(problem, problem.policy), shares, strict=True)]
        return cls(worth, tuple(reach), tuple(taken))

    def whole(self) -> Cells:
        """Return one cell of all policies."""
        return Cells(tuple(np.eye(n)[None] for n in self.worth.shape))

    def at(self, point: Floats) -> Cells:
        """Return one cell of a single policy."""
        rows = _split_rows(point, self.worth.shape)
        return Cells(tuple(np.tile(row, (1, len(row), 1)) for row in rows))

    def utilities(self, cells: Cells) -> Range:
        """Return (N,) bounds of the expected utility."""
        return _range(self.worth, cells)

    def accuracy(self, point: Floats) -> float:
        """Return the accuracy of a policy's predictions, in nats above chance."""
        total = 0.0
        for taken, row in zip(self.taken, _split_rows(point, self.worth.shape), strict=True):
            total += float(xlogy(taken, len(row) * row).sum())
        return total

    def accuracies(self, cells: Cells) -> Floats:
        """Return (N,) upper bounds of the accuracy, in nats above chance."""
        total = np.zeros(len(cells))
        for taken, (low, high) in zip(self.taken, cells.sides, strict=True):
            if not taken.any():
                continue
            level = _water_level(taken, low, high)
            filled = np.clip(taken * level, low, high)
            rate = 1 / level[:, 0]
            slack = rate * (1 - filled.sum(axis=1) + ROUNDING)
            total += xlogy(taken, len(taken) * filled).sum(axis=1) + slack
        return total

    def entropies(self, cells: Cells) -> Range:
        """Return (N,) bounds of the causal entropy."""
        low = high = np.zeros((1, 1))
        for reach, (least, most) in zip(self.reach, cells.surprise, strict=True):
            often = _corners(reach, cells)
            low = low + often * least[:, None]
            high = high + often * most[:, None]
        return low.min(axis=1), high.max(axis=1)

    def gradients(self, point: Floats) -> tuple[Floats, Floats]:
        """Return (sum of n - 1,) gradients of entropy and utility, each from a row's last option to another."""
        entropies, utilities = self._derivatives(self.at(point))
        return np.array([low[0] for low, _ in entropies]), np.array([low[0] for low, _ in utilities])

    def may_be_stationary(self, cells: Cells) -> NDArray[np.bool_]:
        """Return (N,) whether the bounds allow parallel gradients of entropy and utility somewhere in the cell."""
        entropies, utilities = self._derivatives(cells)
        possible = np.ones(len(cells), dtype=bool)
        # Parallel vectors have equal cross products of every pair of components.
        for i in range(len(utilities)):
            for j in range(i):
                one = _product(entropies[i], utilities[j])
                other = _product(entropies[j], utilities[i])
                possible &= ~((one[0] > other[1]) | (other[0] > one[1]))
        return possible

    def _derivatives(self, cells: Cells) -> tuple[list[Range], list[Range]]:
        """Bound the derivatives of entropy and utility, in each direction from a row's last option to another."""
        entropies = []
        utilities = []
        for row, n in enumerate(self.worth.shape):
            for option in range(n - 1):
                entropies.append(self._entropy_derivative(row, option, cells))
                utilities.append(_derivative(self.worth, row, option, cells))
        return entropies, utilities

    def _entropy_derivative(self, row: int, option: int, cells: Cells) -> Range:
        # The row's own entropy changes as often as it is reached. `_product` deals with infinity and NaN.
        least, most = cells.sides[row]
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.log(least)
            high = np.log(most)
            steepness = low[:, -1] - high[:, option], high[:, -1] - low[:, option]
        low, high = _product(_range(self.reach[row], cells), steepness)

        # The other rows are reached more or less often.
        for other, reach in enumerate(self.reach):
            if other != row:
                more = _product(_derivative(reach, row, option, cells), cells.surprise[other])
                low = low + more[0]
                high = high + more[1]
        return low, high


def policies_at(problem: DecisionProblem, point: Floats) -> Policies:
    """Return the policies of a point: the probabilities of all rows, one after the other."""
    policies = {}
    first = 0
    for name, table in problem.policy.items():
        policies[name] = point[first : first + table.size].reshape(table.shape)
        first += table.size
    return policies


def point_of(policies: Policies) -> Floats:
    """Return the point of policies, the inverse of `policies_at`."""
    return np.concatenate([table.ravel() for table in policies.values()])


def _split_rows(point: Floats, options: "tuple[int, ...] | list[int]") -> list[Floats]:
    return np.split(point, np.cumsum(options)[:-1])


def _reached(problem: DecisionProblem, policies: Policies) -> Floats:
    """Return the (K,) probability of reaching each row."""
    done = problem.distribution(policies)
    rows = [problem.marginal(done, problem.families[name]).sum(axis=-1).ravel() for name in problem.decisions]
    return np.concatenate(rows)


def _water_level(weights: Floats, low: Floats, high: Floats) -> Floats:
    """Return (N, 1) levels c > 0 for which weights (n,) times c, clipped to (N, n) bounds, nearly sum to one."""
    used = weights > 0
    bottom = (low[:, used] / weights[used]).min(axis=1, keepdims=True)
    top = np.maximum((high[:, used] / weights[used]).max(axis=1, keepdims=True), ROUNDING)
    for _ in range(HALVINGS):
        middle = (bottom + top) / 2
        enough = np.clip(weights * middle, low, high).sum(axis=1, keepdims=True) >= 1
        bottom = np.where(enough, bottom, middle)
        top = np.where(enough, middle, top)
    return np.asarray(top)


def _corners(table: Floats, cells: Cells) -> Floats:
    """Return (N, prod of n) values at the corners of cells of what is linear in every row, given its pure values."""
    values = table.reshape(1, -1)
    for corners in cells.rows:
        n = corners.shape[1]
        # Contract the leading axis, and move the corners of this row to the end.
        mixed = corners @ values.reshape(len(values), n, -1)
        values = np.swapaxes(mixed, 1, 2).reshape(len(corners), -1)
    return np.asarray(values)


def _range(table: Floats, cells: Cells) -> Range:
    corners = _corners(table, cells)
    return corners.min(axis=1), corners.max(axis=1)


def _derivative(table: Floats, row: int, option: int, cells: Cells) -> Range:
    """Return (N,) bounds of the derivative from a row's last option to another."""
    change = np.take(table, option, axis=row) - np.take(table, -1, axis=row)
    return _range(change, cells.without(row))


def _product(one: Range, other: Range) -> Range:
    """Return bounds of a product; zero times infinity is zero, as a row that is never reached has no entropy."""
    with np.errstate(invalid="ignore"):
        products = np.stack([a * b for a in one for b in other])
    products = np.nan_to_num(products, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return products.min(axis=0), products.max(axis=0)
