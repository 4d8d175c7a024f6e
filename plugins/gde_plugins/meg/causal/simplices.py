"""All policies of a small diagram as a product of simplices, and bounds over parts of
it.

A row of a decision (one joint value of its parents) with n options is a simplex of n
corners. A cell is a product of smaller simplices, one of each row. The expected utility
and the probability of reaching a row are linear in every row, so their extremes over a
cell are where every row is at a corner. Entropy and log-probability are bounded row by
row, by weak duality.
"""

from collections.abc import Sequence
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
"""Halvings of an interval that holds the Lagrange multiplier of a row; any gives a
bound, the right one the closest.
"""
ROUNDING = 1e-15
"""Error of a sum of probabilities."""

Range = tuple[Floats, Floats]
"""(N,) or (N, n) lower and upper bounds."""


@dataclass(frozen=True, eq=False)
class Cells:
    """N products of simplices."""

    rows: tuple[Floats, ...]
    """For each row (N, n, n): the corners of its simplex, and the probability of each
    option there.
    """

    def __len__(self) -> int:
        return len(self.rows[0])

    def halves(self) -> "Cells":
        """Cut each cell in two, across the longest edge of its longest row."""
        edges = []
        lengths = []
        for corners in self.rows:
            # (N, n, n, n) between two corners, by option; then (N, n * n) lengths of
            # the edges.
            differences = np.abs(corners[:, :, None] - corners[:, None])
            length = differences.max(axis=-1)
            between = length.reshape(len(corners), -1)
            edges.append(between)
            lengths.append(between.max(axis=1))
        row_to_cut = np.stack(lengths, axis=1).argmax(axis=1)

        halved = []
        for row, corners in enumerate(self.rows):
            cut = np.flatnonzero(row_to_cut == row)
            edge = edges[row][cut].argmax(axis=1)
            one, other = np.divmod(edge, corners.shape[1])
            begin = corners[cut, one]
            end = corners[cut, other]
            middle = (begin + end) / 2

            # In each half the middle of the edge takes the place of one of its ends.
            first = corners.copy()
            first[cut, other] = middle
            second = corners.copy()
            second[cut, one] = middle
            halved.append(np.concatenate([first, second]))
        return Cells(tuple(halved))

    def where(self, chosen: NDArray[np.bool_]) -> "Cells":
        """Select the cells of which (N,) `chosen` holds."""
        return Cells(tuple(each[chosen] for each in self.rows))

    def without(self, row: int) -> "Cells":
        """Drop one row."""
        before = self.rows[:row]
        after = self.rows[row + 1 :]
        return Cells(before + after)

    @cached_property
    def sides(self) -> list[Range]:
        """For each row (N, n) the least and the largest probability of each option."""
        found = []
        for corners in self.rows:
            least = corners.min(axis=1)
            most = corners.max(axis=1)
            found.append((least, most))
        return found

    @cached_property
    def surprise(self) -> list[Range]:
        """For each row (N,) bounds of its entropy."""
        found = []
        for corners, (low, high) in zip(self.rows, self.sides, strict=True):
            n = corners.shape[1]
            # Entropy is concave, so the least is at a corner.
            least = entr(corners).sum(axis=2).min(axis=1)

            # The most is bounded by the dual, with the multiplier that makes the
            # clipped probabilities sum to one.
            level = _water_level(np.ones(n), low, high)
            filled = np.clip(level, low, high)
            multiplier = 1 + np.log(level[:, 0])
            missing = 1 - filled.sum(axis=1)
            most = entr(filled).sum(axis=1) - multiplier * missing
            found.append((least, np.minimum(most, log(n))))
        return found


@dataclass(frozen=True, eq=False)
class Simplices:
    """The policies of a decision problem, as K rows of n_k options."""

    worth: Floats
    """(n_1, ..., n_K) expected utility where every row is at a corner."""
    reach: tuple[Floats, ...]
    """For each row (n_1, ..., n_K): the probability of reaching it there."""
    taken: tuple[Floats, ...]
    """For each row (n,): probability that the measured agent is in it and takes an
    option.
    """

    @classmethod
    def of(cls, problem: DecisionProblem, utility: Floats) -> "Simplices | None":
        """Tabulate the problem for one utility (n_outcomes,); None where the diagram is
        too large.
        """
        options: list[int] = []
        for table in problem.policy.values():
            n_options = table.shape[-1]
            n_rows = table.size // n_options
            options += [n_options] * n_rows
        dimensions = sum(options) - len(options)
        if dimensions > MOST_DIMENSIONS:
            return None

        # Expectations are linear in every row, so their values at the corners are all
        # there is to know.
        worth = np.empty(options)
        reach = np.empty((len(options), *options))
        for corner in np.ndindex(*options):
            choices = []
            for n, chosen in zip(options, corner, strict=True):
                choices.append(np.eye(n)[chosen])
            policies = policies_at(problem, np.concatenate(choices))
            worth[corner] = problem.outcomes(policies) @ utility
            reach[(slice(None), *corner)] = _reached(problem, policies)

        taken = []
        shares = _split_rows(point_of(problem.policy), options)
        for often, share in zip(_reached(problem, problem.policy), shares, strict=True):
            taken.append(often * share)
        return cls(worth, tuple(reach), tuple(taken))

    def whole(self) -> Cells:
        """Return one cell of all policies."""
        return Cells(tuple(np.eye(n)[None] for n in self.worth.shape))

    def at(self, point: Floats) -> Cells:
        """Return one cell of a single policy."""
        rows = []
        for row in _split_rows(point, self.worth.shape):
            n = len(row)
            rows.append(np.tile(row, (1, n, 1)))
        return Cells(tuple(rows))

    def utilities(self, cells: Cells) -> Range:
        """Return (N,) bounds of the expected utility."""
        return _range(self.worth, cells)

    def accuracy(self, point: Floats) -> float:
        """Return the accuracy of a policy's predictions, in nats above chance."""
        total = 0.0
        rows = _split_rows(point, self.worth.shape)
        for taken, row in zip(self.taken, rows, strict=True):
            above_chance = len(row) * row
            total += float(xlogy(taken, above_chance).sum())
        return total

    def accuracies(self, cells: Cells) -> Floats:
        """Return (N,) upper bounds of the accuracy, in nats above chance."""
        total = np.zeros(len(cells))
        for taken, (low, high) in zip(self.taken, cells.sides, strict=True):
            if not taken.any():
                continue

            # The best prediction is proportional to what is taken, but for the bounds
            # of the cell. The dual adds what the multiplier, 1 / level, makes of a sum
            # that is not quite one.
            level = _water_level(taken, low, high)
            filled = np.clip(taken * level, low, high)
            rate = 1 / level[:, 0]
            slack = rate * (1 - filled.sum(axis=1) + ROUNDING)
            logs = xlogy(taken, len(taken) * filled).sum(axis=1)
            total += logs + slack
        return total

    def entropies(self, cells: Cells) -> Range:
        """Return (N,) bounds of the causal entropy."""
        low = np.zeros((1, 1))
        high = np.zeros((1, 1))
        for reach, (least, most) in zip(self.reach, cells.surprise, strict=True):
            often = _corners(reach, cells)
            low = low + often * least[:, None]
            high = high + often * most[:, None]
        return low.min(axis=1), high.max(axis=1)

    def gradients(self, point: Floats) -> tuple[Floats, Floats]:
        """Return (sum of n - 1,) gradients of entropy and utility, each from a row's
        last option to another.
        """
        # The cell is a single policy, so the lower and the upper bounds are equal.
        entropies, utilities = self._derivatives(self.at(point))
        of_entropy = np.array([low[0] for low, _ in entropies])
        of_utility = np.array([low[0] for low, _ in utilities])
        return of_entropy, of_utility

    def may_be_stationary(self, cells: Cells) -> NDArray[np.bool_]:
        """Return (N,) whether the bounds allow parallel gradients of entropy and
        utility somewhere in the cell.
        """
        entropies, utilities = self._derivatives(cells)
        possible = np.ones(len(cells), dtype=bool)
        # Parallel vectors have equal cross products of every pair of components.
        for i in range(len(utilities)):
            for j in range(i):
                one_low, one_high = _product(entropies[i], utilities[j])
                other_low, other_high = _product(entropies[j], utilities[i])
                apart = (one_low > other_high) | (other_low > one_high)
                possible &= ~apart
        return possible

    def _derivatives(self, cells: Cells) -> tuple[list[Range], list[Range]]:
        """Bound the derivatives of entropy and utility, in each direction from a row's
        last option to another.
        """
        entropies = []
        utilities = []
        for row, n in enumerate(self.worth.shape):
            for option in range(n - 1):
                entropies.append(self._entropy_derivative(row, option, cells))
                utilities.append(_derivative(self.worth, row, option, cells))
        return entropies, utilities

    def _entropy_derivative(self, row: int, option: int, cells: Cells) -> Range:
        """Bound the derivative of the causal entropy from a row's last option to
        another.
        """
        # The row's own entropy changes as often as it is reached. `_product` deals with
        # infinity and NaN.
        least, most = cells.sides[row]
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.log(least)
            high = np.log(most)
            flattest = low[:, -1] - high[:, option]
            steepest = high[:, -1] - low[:, option]
        reached = _range(self.reach[row], cells)
        low, high = _product(reached, (flattest, steepest))

        # The other rows are reached more or less often.
        for other, reach in enumerate(self.reach):
            if other == row:
                continue
            change = _derivative(reach, row, option, cells)
            less, more = _product(change, cells.surprise[other])
            low = low + less
            high = high + more
        return low, high


def policies_at(problem: DecisionProblem, point: Floats) -> Policies:
    """Return the policies of a point: the probabilities of all rows, one after the
    other.
    """
    policies = {}
    first = 0
    for name, table in problem.policy.items():
        last = first + table.size
        policies[name] = point[first:last].reshape(table.shape)
        first = last
    return policies


def point_of(policies: Policies) -> Floats:
    """Return the point of policies, the inverse of `policies_at`."""
    return np.concatenate([table.ravel() for table in policies.values()])


def _split_rows(point: Floats, options: Sequence[int]) -> list[Floats]:
    ends = np.cumsum(options)
    return np.split(point, ends[:-1])


def _reached(problem: DecisionProblem, policies: Policies) -> Floats:
    """Return the (K,) probability of reaching each row."""
    done = problem.distribution(policies)
    rows = []
    for name in problem.decisions:
        family = problem.marginal(done, problem.families[name])
        rows.append(family.sum(axis=-1).ravel())
    return np.concatenate(rows)


def _water_level(weights: Floats, low: Floats, high: Floats) -> Floats:
    """Return (N, 1) levels c > 0 for which weights (n,) times c, clipped to (N, n)
    bounds, nearly sum to one.
    """
    used = weights > 0
    least = low[:, used] / weights[used]
    most = high[:, used] / weights[used]
    bottom = least.min(axis=1, keepdims=True)
    top = np.maximum(most.max(axis=1, keepdims=True), ROUNDING)

    # The sum rises with the level, so bisection keeps a level that is enough at the
    # top.
    for _ in range(HALVINGS):
        middle = (bottom + top) / 2
        filled = np.clip(weights * middle, low, high)
        enough = filled.sum(axis=1, keepdims=True) >= 1
        bottom = np.where(enough, bottom, middle)
        top = np.where(enough, middle, top)
    return np.asarray(top)


def _corners(table: Floats, cells: Cells) -> Floats:
    """Return (N, prod of n) values at the corners of cells of what is linear in every
    row, given its pure values.
    """
    values = table.reshape(1, -1)
    for corners in cells.rows:
        n = corners.shape[1]
        # Contract the leading axis, and move the corners of this row to the end.
        leading = values.reshape(len(values), n, -1)
        mixed = corners @ leading
        swapped = np.swapaxes(mixed, 1, 2)
        values = swapped.reshape(len(corners), -1)
    return np.asarray(values)


def _range(table: Floats, cells: Cells) -> Range:
    corners = _corners(table, cells)
    return corners.min(axis=1), corners.max(axis=1)


def _derivative(
    table: Floats,
    row: int,
    option: int,
    cells: Cells,
) -> Range:
    """Return (N,) bounds of the derivative from a row's last option to another."""
    there = np.take(table, option, axis=row)
    here = np.take(table, -1, axis=row)
    return _range(there - here, cells.without(row))


def _product(one: Range, other: Range) -> Range:
    """Return bounds of a product; zero times infinity is zero, as a row that is never
    reached has no entropy.
    """
    products = []
    with np.errstate(invalid="ignore"):
        for a in one:
            for b in other:
                products.append(a * b)
    extremes = np.stack(products)
    extremes[np.isnan(extremes)] = 0.0
    return extremes.min(axis=0), extremes.max(axis=0)
