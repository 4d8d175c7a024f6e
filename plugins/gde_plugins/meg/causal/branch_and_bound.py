"""Bounds that close for decisions without recall, in small diagrams: branch and bound over all policies.

A box of policies is cut off where none in it

- predicts better than what is known to be possible already;
- has highest entropy for its utility, since another box has more at each of its utilities; or
- is even stationary: at highest entropy for a utility, the gradients of entropy and utility are parallel.

What is left lies along the curves of locally highest entropy, so that the bounds close in as many boxes as these are
long. It finds policies of highest entropy that trade utility off at no single rate, too, which maximise
beta * E[U] + entropy for no beta: where the curve leaves the uniform policy, there is a jump in beta.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gde.data.mdp import Floats
from gde_plugins.meg.causal.cube import Boxes, Cube, point_of, policies_at
from gde_plugins.meg.causal.decision_problem import DecisionProblem, Policies

BOXES = 60_000
"""Boxes that are looked at before a search is given up."""
CLOSE = 1e-3
"""Nats between the bounds at which it ends; policies count as most random up to as much entropy."""
LEVELS = 64
"""Intervals of utility in which the entropies of boxes are compared."""
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

    None where the diagram is too large for it (see `Cube.of`), or these are not of highest entropy and no others are
    found.
    """
    cube = Cube.of(problem, utility)
    if cube is None:
        return None
    point, rate = point_of(policies), None
    known = _accuracy(cube, point) if most_random(cube, point) else 0.0
    certain = known > 0
    for _ in range(ROUNDS):
        upper, promising = _most_accurate(cube, known)
        if promising is None:
            break
        better = _most_random_beside(cube, promising)
        if _accuracy(cube, better) <= known or not most_random(cube, better):
            break
        point, known, rate, certain = better, _accuracy(cube, better), _rate(cube, better), True
    if not certain and upper > CLOSE:
        return None
    return Found(policies_at(problem, point) if certain else problem.uniform, known, upper, rate)


def most_random(cube: Cube, point: Floats, close: float = CLOSE) -> bool:
    """Whether no policy of the same expected utility has more entropy, up to so many nats."""
    here = _at(point)
    (worth, _), (entropy, _) = cube.utilities(here), cube.entropies(here)
    boxes, looked = _whole(cube), 0
    while len(boxes.low):
        if looked + 2 * len(boxes.low) > BOXES:
            return False
        boxes = boxes.halves()
        looked += len(boxes.low)
        low, high = cube.utilities(boxes)
        same, (least, most) = (low <= worth[0]) & (worth[0] <= high), cube.entropies(boxes)
        if (same & (least > entropy[0] + close)).any():
            return False
        boxes = boxes.where(same & (most > entropy[0] + close) & cube.may_be_stationary(boxes))
    return True


def _most_accurate(cube: Cube, known: float) -> tuple[float, Floats | None]:
    """An upper bound of MEG, and a point where there may be more than is known; None where there is none."""
    boxes, frontier, looked, cut = _whole(cube), _Frontier(cube), 0, known
    while len(boxes.low) and looked + 2 * len(boxes.low) <= BOXES:
        boxes = boxes.halves()
        looked += len(boxes.low)
        frontier.learn(boxes)
        accuracies = cube.accuracies(boxes)
        dull = accuracies <= known + CLOSE
        cut = max(cut, float(accuracies[dull].max(initial=known)))
        boxes = boxes.where(~dull & frontier.rivals(boxes) & cube.may_be_stationary(boxes))
    if not len(boxes.low):
        return cut, None
    accuracies = cube.accuracies(boxes)
    best = int(accuracies.argmax())
    return float(accuracies[best]), (boxes.low[best] + boxes.high[best]) / 2


class _Frontier:
    """The most entropy that is known to be had at each level of utility."""

    def __init__(self, cube: Cube) -> None:
        self._cube = cube
        self._edges = np.linspace(cube.worth.min(), cube.worth.max(), LEVELS + 1)
        self._known = np.full(LEVELS, -np.inf)

    def learn(self, boxes: Boxes) -> None:
        """Utility varies continuously within a box: all between its least and its most is had there."""
        low, high = self._cube.utilities(boxes)
        entropy = self._cube.entropies(boxes)[0]
        for i in range(LEVELS):
            covers = (low <= self._edges[i]) & (high >= self._edges[i + 1])
            self._known[i] = max(self._known[i], float(entropy[covers].max(initial=-np.inf)))

    def rivals(self, boxes: Boxes) -> NDArray[np.bool_]:
        """(N,) whether a box may have as much somewhere."""
        low, high = self._cube.utilities(boxes)
        entropy, possible = self._cube.entropies(boxes)[1], np.zeros(len(low), dtype=bool)
        for i in range(LEVELS):
            possible |= (low <= self._edges[i + 1]) & (high >= self._edges[i]) & (entropy >= self._known[i])
        return possible


def _most_random_beside(cube: Cube, point: Floats) -> Floats:
    """The most random policy of the same utility that is found from here."""
    worth = cube.utilities(_at(point))[0][0]
    same = {"type": "eq", "fun": lambda other: cube.utilities(_at(other))[0][0] - worth}
    within = [(0.0, 1.0)] * len(point)
    found = minimize(
        lambda other: -cube.entropies(_at(other))[0][0], point, method="SLSQP", bounds=within, constraints=[same]
    )
    return np.asarray(np.clip(found.x, 0.0, 1.0))


def _rate(cube: Cube, point: Floats) -> float:
    """By how much entropy falls for more utility."""
    entropy, worth = cube.gradients(point)
    squared = float(worth @ worth)
    return float(-entropy @ worth) / squared if squared else 0.0


def _accuracy(cube: Cube, point: Floats) -> float:
    return float(cube.accuracies(_at(point))[0])


def _at(point: Floats) -> Boxes:
    inside = np.clip(point, 0.0, 1.0)[None]
    return Boxes(inside, inside)


def _whole(cube: Cube) -> Boxes:
    n = len(cube.reach)
    return Boxes(np.zeros((1, n)), np.ones((1, n)))
