"""Branch and bound over all policies of decisions without recall in small diagrams.

Every decision has two options, so a policy is a point: one probability for each joint
value of a decision's parents (a row). A cell is a box of such points. Expected utility
and the probability of reaching a row are linear in every probability, so their extremes
over a cell are at its corners. A cell is cut off where no policy in it

- predicts better than a policy that is known already;
- has highest entropy for its utility, since another cell has more at each of its
  utilities; or
- is stationary: at highest entropy for a utility, the gradients of entropy and utility
  are parallel.

The rest lies along the curves of locally highest entropy, so the number of cells grows
only with the length of these curves. The search looks at utilities, not at
rationalities. So its result does not depend on where it begins, or on whether some beta
prefers a policy.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import entr, xlogy

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.solvers.dynamics import Mask

MOST_ROWS = 4
"""Free probabilities of the largest diagram that is searched."""
CELLS = 60_000
"""Number of cells after which a search is given up."""
CLOSE = 1e-3
"""Nats between the bounds at which it ends; also the entropy up to which policies count
as most random.
"""
LEVELS = 64
"""Intervals of utility in which the entropies of cells are compared."""
ROUNDS = 8
"""Better policies that are followed up."""

Range = tuple[Floats, Floats]
"""(N,) lower and upper bounds."""


class Found(NamedTuple):
    """The best policies, and bounds on all policies."""

    policies: Policies
    value: float
    upper: float
    rate: float | None
    """The rate at which they trade utility for entropy, in 1 / utility; None if they
    are the policies given.
    """


class Cells(NamedTuple):
    """N boxes of policies, each from (N, K) `low` to (N, K) `high`."""

    low: Floats
    high: Floats

    def halves(self) -> "Cells":
        """Cut each cell in two, across its longest side."""
        longest = (self.high - self.low).argmax(axis=1)
        place = (np.arange(len(longest)), longest)
        middle = (self.low + self.high) / 2
        first_high = self.high.copy()
        first_high[place] = middle[place]
        second_low = self.low.copy()
        second_low[place] = middle[place]
        return Cells(
            low=np.concatenate([self.low, second_low]),
            high=np.concatenate([first_high, self.high]),
        )

    def where(self, chosen: Mask) -> "Cells":
        """Select the cells of which (N,) `chosen` holds."""
        return Cells(self.low[chosen], self.high[chosen])

    def entropy(self, row: int) -> Range:
        """Return bounds of the entropy of one choice."""
        low = self.low[:, row]
        high = self.high[:, row]
        # Entropy is concave and most at a half.
        least = np.minimum(_entropy(low), _entropy(high))
        return least, _entropy(np.clip(0.5, low, high))


@dataclass(frozen=True, eq=False)
class Space:
    """The policies of a decision problem with K rows."""

    worth: Floats
    """(2, ..., 2) expected utility where every choice is certain."""
    reach: tuple[Floats, ...]
    """For each row (2, ..., 2): the probability of reaching it there."""
    taken: Floats
    """(K, 2) probability that the measured agent is in a row and takes an option."""

    @classmethod
    def of(cls, problem: DecisionProblem, utility: Floats) -> "Space | None":
        """Tabulate the problem for one utility (n_outcomes,) of the targets; None where
        the diagram is too large.
        """
        tables = problem.policy.values()
        point = point_of(problem.policy)
        n_rows = len(point)
        if any(each.shape[-1] != 2 for each in tables) or n_rows > MOST_ROWS:
            return None

        # Expectations are linear in every row, so their values at the corners are all
        # there is to know.
        shape = (2,) * n_rows
        worth = np.empty(shape)
        reach = np.empty((n_rows, *shape))
        for corner in np.ndindex(shape):
            policies = policies_at(problem, np.array(corner, dtype=float))
            worth[corner] = problem.outcomes(policies) @ utility
            reach[(slice(None), *corner)] = _reached(problem, policies)

        often = _reached(problem, problem.policy)
        taken = np.stack([often * (1 - point), often * point], axis=1)
        return cls(worth, tuple(reach), taken)

    def whole(self) -> Cells:
        """Return one cell of all policies."""
        n_rows = len(self.taken)
        return Cells(np.zeros((1, n_rows)), np.ones((1, n_rows)))

    def utilities(self, cells: Cells) -> Range:
        """Return bounds of the expected utility."""
        return _range(self.worth, cells)

    def accuracy(self, point: Floats) -> float:
        """Return the accuracy of a policy's predictions, in nats above chance."""
        return float(self.accuracies(at(point))[0])

    def accuracies(self, cells: Cells) -> Floats:
        """Return (N,) upper bounds of the accuracy, in nats above chance."""
        # The best prediction is what the agent does, but for the bounds of the cell.
        often = self.taken.sum(axis=1)
        done = np.full(len(often), 0.5)
        np.divide(self.taken[:, 1], often, where=often > 0, out=done)
        point = np.clip(done, cells.low, cells.high)
        logs = xlogy(self.taken[:, 0], 2 * (1 - point))
        logs += xlogy(self.taken[:, 1], 2 * point)
        return np.asarray(logs.sum(axis=1))

    def entropies(self, cells: Cells) -> Range:
        """Return bounds of the causal entropy."""
        low = np.zeros((1, 1))
        high = np.zeros((1, 1))
        for row, reach in enumerate(self.reach):
            often = _corners(reach, cells)
            least, most = cells.entropy(row)
            low = low + often * least[:, None]
            high = high + often * most[:, None]
        return low.min(axis=1), high.max(axis=1)

    def gradients(self, cells: Cells) -> tuple[list[Range], list[Range]]:
        """Bound the K derivatives of entropy and of utility by the probabilities."""
        entropies = []
        utilities = []
        for row in range(len(self.taken)):
            entropies.append(self._entropy_derivative(row, cells))
            utilities.append(_derivative(self.worth, row, cells))
        return entropies, utilities

    def may_be_stationary(self, cells: Cells) -> Mask:
        """Return (N,) whether the bounds allow parallel gradients of entropy and
        utility somewhere in the cell.
        """
        entropies, utilities = self.gradients(cells)
        possible = np.ones(len(cells.low), dtype=bool)
        # Parallel vectors have equal cross products of every pair of components.
        for i in range(len(utilities)):
            for j in range(i):
                one_low, one_high = _product(entropies[i], utilities[j])
                other_low, other_high = _product(entropies[j], utilities[i])
                apart = (one_low > other_high) | (other_low > one_high)
                possible &= ~apart
        return possible

    def _entropy_derivative(self, row: int, cells: Cells) -> Range:
        # The row's own entropy changes as often as it is reached.
        with np.errstate(divide="ignore"):
            log_low = np.log(cells.low[:, row])
            log_high = np.log(cells.high[:, row])
            log_not_low = np.log(1 - cells.low[:, row])
            log_not_high = np.log(1 - cells.high[:, row])
        reached = _range(self.reach[row], cells)
        low, high = _product(reached, (log_not_high - log_high, log_not_low - log_low))

        # The other rows are reached more or less often.
        for other, reach in enumerate(self.reach):
            if other != row:
                change = _derivative(reach, row, cells)
                less, more = _product(change, cells.entropy(other))
                low = low + less
                high = high + more
        return low, high


def search(
    problem: DecisionProblem, utility: Floats, policies: Policies
) -> Found | None:
    """Search from policies that are thought to be the best of highest entropy.

    Args:
        problem: the decisions.
        utility: (n_outcomes,) of the targets' joint values.
        policies: the start.

    Returns:
        None where the diagram is too large (see `Space.of`), or where neither the
        start nor any policy found is of highest entropy.
    """
    space = Space.of(problem, utility)
    if space is None:
        return None

    point = point_of(policies)
    rate = None
    known = 0.0
    if most_random(space, point):
        known = space.accuracy(point)
    certain = known > 0

    # Every round either proves that nothing is better or finds a better policy to cut
    # off more cells with.
    for _ in range(ROUNDS):
        upper, promising = _most_accurate(space, known)
        if promising is None:
            break
        better = _most_random_beside(space, promising)
        accuracy = space.accuracy(better)
        if accuracy <= known or not most_random(space, better):
            break
        point = better
        known = accuracy
        rate = _rate(space, better)
        certain = True

    if certain:
        return Found(policies_at(problem, point), known, upper, rate)
    # Uniform choice is of highest entropy too; it is the answer only where nothing can
    # be better.
    if upper > CLOSE:
        return None
    return Found(problem.uniform, known, upper, rate)


def most_random(space: Space, point: Floats, close: float = CLOSE) -> bool:
    """Return whether no policy of the same expected utility has more entropy, up to so
    many nats.
    """
    here = at(point)
    worth = space.utilities(here)[0][0]
    entropy = space.entropies(here)[0][0]

    cells = space.whole()
    looked = 0
    while len(cells.low):
        if looked + 2 * len(cells.low) > CELLS:
            return False
        cells = cells.halves()
        looked += len(cells.low)

        low, high = space.utilities(cells)
        least, most = space.entropies(cells)
        same_utility = (low <= worth) & (worth <= high)
        certainly_more = same_utility & (least > entropy + close)
        if certainly_more.any():
            return False
        perhaps_more = same_utility & (most > entropy + close)
        cells = cells.where(perhaps_more & space.may_be_stationary(cells))
    return True


def _most_accurate(space: Space, known: float) -> tuple[float, Floats | None]:
    """Return an upper bound of MEG, and a point that may be better than what is known;
    None where there is none.
    """
    cells = space.whole()
    frontier = _Frontier(space)
    looked = 0
    cut = known
    while len(cells.low) and looked + 2 * len(cells.low) <= CELLS:
        cells = cells.halves()
        looked += len(cells.low)
        frontier.learn(cells)

        # Cells that are cut off as hardly better still count for the upper bound.
        accuracies = space.accuracies(cells)
        dull = accuracies <= known + CLOSE
        cut = max(cut, float(accuracies[dull].max(initial=known)))
        promising = ~dull & frontier.may_reach(cells)
        cells = cells.where(promising & space.may_be_stationary(cells))
    if not len(cells.low):
        return cut, None

    # The search was given up: the best of the cells that are left is a place to look
    # from.
    accuracies = space.accuracies(cells)
    best = int(accuracies.argmax())
    center = (cells.low[best] + cells.high[best]) / 2
    return float(accuracies[best]), center


class _Frontier:
    """The most entropy that is known to be possible at each level of utility."""

    def __init__(self, space: Space) -> None:
        self._space = space
        least = space.worth.min()
        most = space.worth.max()
        self._edges = np.linspace(least, most, LEVELS + 1)
        self._known = np.full(LEVELS, -np.inf)

    def learn(self, cells: Cells) -> None:
        """Raise the frontier: utility is continuous, so a cell has all utilities
        between its least and its most.
        """
        low, high = self._space.utilities(cells)
        entropy, _ = self._space.entropies(cells)
        for i in range(LEVELS):
            begin = self._edges[i]
            end = self._edges[i + 1]
            covers = (low <= begin) & (high >= end)
            most = float(entropy[covers].max(initial=-np.inf))
            self._known[i] = max(self._known[i], most)

    def may_reach(self, cells: Cells) -> Mask:
        """Return (N,) whether a cell may have as much entropy as the frontier
        somewhere.
        """
        low, high = self._space.utilities(cells)
        _, entropy = self._space.entropies(cells)
        possible = np.zeros(len(low), dtype=bool)
        for i in range(LEVELS):
            begin = self._edges[i]
            end = self._edges[i + 1]
            overlaps = (low <= end) & (high >= begin)
            possible |= overlaps & (entropy >= self._known[i])
        return possible


def _most_random_beside(space: Space, point: Floats) -> Floats:
    """Return the most random policy of the same utility that a local search finds from
    here.
    """
    worth = space.utilities(at(point))[0][0]

    def excess(other: Floats) -> float:
        return float(space.utilities(at(other))[0][0] - worth)

    def order(other: Floats) -> float:
        # A step of the search may leave the box by rounding, where entropy is not
        # defined.
        inside = np.clip(other, 0.0, 1.0)
        return -float(space.entropies(at(inside))[0][0])

    found = minimize(
        order,
        point,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(point),
        constraints={"type": "eq", "fun": excess},
    )
    return np.asarray(np.clip(found.x, 0.0, 1.0))


def _rate(space: Space, point: Floats) -> float:
    """Return by how much entropy falls for more utility."""
    # The cell is a single policy, so the lower and the upper bounds are equal.
    entropies, utilities = space.gradients(at(point))
    entropy = np.array([low[0] for low, _ in entropies])
    worth = np.array([low[0] for low, _ in utilities])
    squared = float(worth @ worth)
    if not squared:
        return 0.0
    return float(-entropy @ worth) / squared


def at(point: Floats) -> Cells:
    """Return the cell of a single policy (K,)."""
    return Cells(point[None], point[None])


def policies_at(problem: DecisionProblem, point: Floats) -> Policies:
    """Return the policies of a point."""
    policies = {}
    first = 0
    for name, table in problem.policy.items():
        last = first + table.size // 2
        second = point[first:last].reshape(table.shape[:-1])
        policies[name] = np.stack([1 - second, second], axis=-1)
        first = last
    return policies


def point_of(policies: Policies) -> Floats:
    """Return the (K,) probabilities of the second option in all rows."""
    return np.concatenate([table[..., 1].ravel() for table in policies.values()])


def _reached(problem: DecisionProblem, policies: Policies) -> Floats:
    """Return the (K,) probability of reaching each row."""
    done = problem.distribution(policies)
    rows = []
    for name in problem.decisions:
        family = problem.marginal(done, problem.families[name])
        rows.append(family.sum(axis=-1).ravel())
    return np.concatenate(rows)


def _entropy(chance: Floats) -> Floats:
    return np.asarray(entr(chance) + entr(1 - chance))


def _corners(table: Floats, cells: Cells) -> Floats:
    """Return (N, 2^K) values at the corners of cells of what is linear in every
    probability, given its values (2, ..., 2) where choices are certain.
    """
    n_cells = len(cells.low)
    values = np.tile(table.ravel(), (n_cells, 1))
    for low, high in zip(cells.low.T, cells.high.T, strict=True):
        # Interpolate along the leading axis, and move its two ends to the end.
        first, second = np.moveaxis(values.reshape(n_cells, 2, -1), 1, 0)
        ends = [(1 - p)[:, None] * first + p[:, None] * second for p in (low, high)]
        values = np.stack(ends, axis=-1).reshape(n_cells, -1)
    return values


def _range(table: Floats, cells: Cells) -> Range:
    corners = _corners(table, cells)
    return corners.min(axis=1), corners.max(axis=1)


def _derivative(table: Floats, row: int, cells: Cells) -> Range:
    """Return bounds of the derivative by the probability of one row."""
    others = Cells(
        np.delete(cells.low, row, axis=1), np.delete(cells.high, row, axis=1)
    )
    return _range(np.diff(table, axis=row), others)


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
