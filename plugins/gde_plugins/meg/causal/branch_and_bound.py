"""Bounds that close for decisions without recall, in small diagrams: branch and bound over all policies.

A cell of policies is cut off where none in it

- predicts better than what is known to be possible already;
- has highest entropy for its utility, since another cell has more at each of its utilities; or
- is even stationary: at highest entropy for a utility, the gradients of entropy and utility are parallel.

What is left lies along the curves of locally highest entropy, so that the bounds close in as many cells as these are
long. It looks at utilities, not at rationalities, so nothing depends on where a search begins or on whether some beta
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
"""Cells that are looked at before a search is given up."""
CLOSE = 1e-3
"""Nats between the bounds at which it ends; policies count as most random up to as much entropy."""
LEVELS = 64
"""Intervals of utility in which the entropies of cells are compared."""
ROUNDS = 8
"""Better policies that are followed up."""


class Found(NamedTuple):
    """The best policies, and bounds of what any have."""

    policies: Policies
    value: float
    upper: float
    rate: float | None
    """At which they trade utility for entropy, in 1 / utility, where they are others than those given."""


def search(problem: DecisionProblem, utility: Floats, policies: Policies) -> Found | None:
    """Start from policies that are thought to be the best of highest entropy.

    None where the diagram is too large for it (see `Simplices.of`), or these are not of highest entropy and no others
    are found.
    """
    space = Simplices.of(problem, utility)
    if space is None:
        return None
    point, rate = point_of(policies), None
    known = space.accuracy(point) if most_random(space, point) else 0.0
    certain = known > 0
    for _ in range(ROUNDS):
        upper, promising = _most_accurate(space, known)
        if promising is None:
            break
        better = _most_random_beside(space, promising)
        if space.accuracy(better) <= known or not most_random(space, better):
            break
        point, known, rate, certain = better, space.accuracy(better), _rate(space, better), True
    if not certain and upper > CLOSE:
        return None
    return Found(policies_at(problem, point) if certain else problem.uniform, known, upper, rate)


def most_random(space: Simplices, point: Floats, close: float = CLOSE) -> bool:
    """Whether no policy of the same expected utility has more entropy, up to so many nats."""
    here = space.at(point)
    (worth, _), (entropy, _) = space.utilities(here), space.entropies(here)
    cells, looked = space.whole(), 0
    while len(cells):
        if looked + 2 * len(cells) > CELLS:
            return False
        cells = cells.halves()
        looked += len(cells)
        low, high = space.utilities(cells)
        same, (least, most) = (low <= worth[0]) & (worth[0] <= high), space.entropies(cells)
        if (same & (least > entropy[0] + close)).any():
            return False
        cells = cells.where(same & (most > entropy[0] + close) & space.may_be_stationary(cells))
    return True


def _most_accurate(space: Simplices, known: float) -> tuple[float, Floats | None]:
    """An upper bound of MEG, and a point where there may be more than is known; None where there is none."""
    cells, frontier, looked, cut = space.whole(), _Frontier(space), 0, known
    while len(cells) and looked + 2 * len(cells) <= CELLS:
        cells = cells.halves()
        looked += len(cells)
        frontier.learn(cells)
        accuracies = space.accuracies(cells)
        dull = accuracies <= known + CLOSE
        cut = max(cut, float(accuracies[dull].max(initial=known)))
        cells = cells.where(~dull & frontier.rivals(cells) & space.may_be_stationary(cells))
    if not len(cells):
        return cut, None
    accuracies = space.accuracies(cells)
    best = int(accuracies.argmax())
    center = np.concatenate([each[best].mean(axis=0) for each in cells.rows])
    return float(accuracies[best]), center


class _Frontier:
    """The most entropy that is known to be had at each level of utility."""

    def __init__(self, space: Simplices) -> None:
        self._space = space
        self._edges = np.linspace(space.worth.min(), space.worth.max(), LEVELS + 1)
        self._known = np.full(LEVELS, -np.inf)

    def learn(self, cells: Cells) -> None:
        """Utility varies continuously within a cell: all between its least and its most is had there."""
        low, high = self._space.utilities(cells)
        entropy = self._space.entropies(cells)[0]
        for i in range(LEVELS):
            covers = (low <= self._edges[i]) & (high >= self._edges[i + 1])
            self._known[i] = max(self._known[i], float(entropy[covers].max(initial=-np.inf)))

    def rivals(self, cells: Cells) -> NDArray[np.bool_]:
        """(N,) whether a cell may have as much somewhere."""
        low, high = self._space.utilities(cells)
        entropy, possible = self._space.entropies(cells)[1], np.zeros(len(low), dtype=bool)
        for i in range(LEVELS):
            possible |= (low <= self._edges[i + 1]) & (high >= self._edges[i]) & (entropy >= self._known[i])
        return possible


def _most_random_beside(space: Simplices, point: Floats) -> Floats:
    """The most random policy of the same utility that is found from here."""
    options, worth = space.worth.shape, space.utilities(space.at(point))[0][0]
    of_row = np.repeat(np.eye(len(options)), options, axis=1)
    same = {"type": "eq", "fun": lambda other: space.utilities(space.at(other))[0][0] - worth}
    whole = {"type": "eq", "fun": lambda other: of_row @ other - 1, "jac": lambda _: of_row}
    within = [(0.0, 1.0)] * len(point)
    found = minimize(
        lambda other: -space.entropies(space.at(np.clip(other, 0.0, 1.0)))[0][0],
        point,
        method="SLSQP",
        bounds=within,
        constraints=[same, whole],
    )
    beside = np.clip(found.x, 0.0, 1.0)
    return np.asarray(beside / (beside @ of_row.T @ of_row))


def _rate(space: Simplices, point: Floats) -> float:
    """By how much entropy falls for more utility."""
    entropy, worth = space.gradients(point)
    squared = float(worth @ worth)
    return float(-entropy @ worth) / squared if squared else 0.0
