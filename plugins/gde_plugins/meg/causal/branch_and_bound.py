"""Branch and bound over all policies, for decisions without recall in small diagrams.

A cell of policies is cut off where no policy in it

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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies
from gde_plugins.meg.causal.simplices import Cells, Simplices, point_of, policies_at

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


class Found(NamedTuple):
    """The best policies, and bounds on all policies."""

    policies: Policies
    value: float
    upper: float
    rate: float | None
    """The rate at which they trade utility for entropy, in 1 / utility; None if they
    are the policies given.
    """


def search(
    problem: DecisionProblem, utility: Floats, policies: Policies
) -> Found | None:
    """Search from policies that are thought to be the best of highest entropy.

    Args:
        problem: the decisions.
        utility: (n_outcomes,) of the targets' joint values.
        policies: the start.

    Returns:
        None where the diagram is too large (see `Simplices.of`), or where neither the
        start nor any policy found is of highest entropy.
    """
    space = Simplices.of(problem, utility)
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


def most_random(space: Simplices, point: Floats, close: float = CLOSE) -> bool:
    """Return whether no policy of the same expected utility has more entropy, up to so
    many nats.
    """
    here = space.at(point)
    worth = space.utilities(here)[0][0]
    entropy = space.entropies(here)[0][0]

    cells = space.whole()
    looked = 0
    while len(cells):
        if looked + 2 * len(cells) > CELLS:
            return False
        cells = cells.halves()
        looked += len(cells)

        low, high = space.utilities(cells)
        least, most = space.entropies(cells)
        same_utility = (low <= worth) & (worth <= high)
        certainly_more = same_utility & (least > entropy + close)
        if certainly_more.any():
            return False
        perhaps_more = same_utility & (most > entropy + close)
        cells = cells.where(perhaps_more & space.may_be_stationary(cells))
    return True


def _most_accurate(space: Simplices, known: float) -> tuple[float, Floats | None]:
    """Return an upper bound of MEG, and a point that may be better than what is known;
    None where there is none.
    """
    cells = space.whole()
    frontier = _Frontier(space)
    looked = 0
    cut = known
    while len(cells) and looked + 2 * len(cells) <= CELLS:
        cells = cells.halves()
        looked += len(cells)
        frontier.learn(cells)

        # Cells that are cut off as hardly better still count for the upper bound.
        accuracies = space.accuracies(cells)
        dull = accuracies <= known + CLOSE
        cut = max(cut, float(accuracies[dull].max(initial=known)))
        promising = ~dull & frontier.may_reach(cells)
        cells = cells.where(promising & space.may_be_stationary(cells))
    if not len(cells):
        return cut, None

    # The search was given up: the best of the cells that are left is a place to look
    # from.
    accuracies = space.accuracies(cells)
    best = int(accuracies.argmax())
    center = np.concatenate([each[best].mean(axis=0) for each in cells.rows])
    return float(accuracies[best]), center


class _Frontier:
    """The most entropy that is known to be possible at each level of utility."""

    def __init__(self, space: Simplices) -> None:
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

    def may_reach(self, cells: Cells) -> NDArray[np.bool_]:
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


def _most_random_beside(space: Simplices, point: Floats) -> Floats:
    """Return the most random policy of the same utility that a local search finds from
    here.
    """
    options = space.worth.shape
    worth = space.utilities(space.at(point))[0][0]
    # (K, sum of n): one where a probability belongs to a row.
    of_row = np.repeat(np.eye(len(options)), options, axis=1)

    def excess(other: Floats) -> float:
        utility = space.utilities(space.at(other))[0][0]
        return float(utility - worth)

    def order(other: Floats) -> float:
        # A step of the search may leave the simplex by rounding, where entropy is not
        # defined.
        inside = np.clip(other, 0.0, 1.0)
        entropy = space.entropies(space.at(inside))[0][0]
        return float(-entropy)

    same_utility = {"type": "eq", "fun": excess}
    sums_to_one = {
        "type": "eq",
        "fun": lambda other: of_row @ other - 1,
        "jac": lambda _: of_row,
    }
    found = minimize(
        order,
        point,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(point),
        constraints=[same_utility, sums_to_one],
    )
    beside = np.clip(found.x, 0.0, 1.0)
    sums = beside @ of_row.T @ of_row
    return np.asarray(beside / sums)


def _rate(space: Simplices, point: Floats) -> float:
    """Return by how much entropy falls for more utility."""
    entropy, worth = space.gradients(point)
    squared = float(worth @ worth)
    if not squared:
        return 0.0
    return float(-entropy @ worth) / squared
