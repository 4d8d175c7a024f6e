"""Soft value iteration over what actions lead to, where utility is of states: no array has a number for each action.

Mostly several actions lead to the same: in a grid, going right from one cell and up from another. Such a distribution
of the next state is an afterstate; there are R of them, often hardly more than states, and as many exponentials a step:
w = E[V_{t+1}], z = sum of exp w over the actions, V_t = u + ln(z / |A|), and an action is chosen with probability
exp w / z. What a state sums over its actions, and what an afterstate collects from them, are products with one sparse
matrix of counts. Exponentials share one origin at each time, so values must not lie too far apart for floating point.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.desirability import LARGEST, summed
from gde_plugins.meg.solvers.dynamics import Dynamics, Indices, Occupancy, Utility

SMALLEST = float(np.exp(-LARGEST))
"""An exponential below this has lost digits."""


class TooWide(ArithmeticError):
    """Values at one time lie too far apart."""


class Afterstates:
    """The distinct distributions of the next state."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics, first, which = dynamics, *_distinct(dynamics.successors)
        self.which = which.reshape(dynamics.n_actions, dynamics.n_states)
        """(A, S) number of the afterstate."""
        self.counts = summed(self.which, len(first))
        """(S, R) number of actions that lead there."""
        self.following = dynamics.successors[first] * dynamics.discount
        """(R, S)."""
        self.few = 2 * len(first) <= len(which)
        """Whether it is worth while to tell afterstates from actions."""
        self.collected, self.arriving = self.counts.T, self.following.T
        self.going = dynamics.going.astype(np.float64)


class AfterstateFit:
    """The soft-optimal policy for a utility of states over a finite horizon. A `Fit`.

    Raises:
        TooWide: values lie further apart than floating point holds.
    """

    def __init__(self, afterstates: Afterstates, utility: Utility, horizon: int) -> None:
        self._after, dynamics = afterstates, afterstates.dynamics
        S, R = afterstates.counts.shape
        self._weights, self._moved = np.empty((2, horizon, R))
        self._shares, self._visits = np.empty((2, horizon, S))
        values, ending = np.zeros(S), dynamics.ending
        for t in reversed(range(horizon)):
            weights = afterstates.following @ values
            origin = _exponentials(weights, out=self._weights[t])
            total = afterstates.counts @ self._weights[t]
            hopeless = total == 0
            total[hopeless] = 1.0
            np.divide(afterstates.going, total, out=self._shares[t])
            values = np.log(total / dynamics.n_actions, out=total)
            values += utility.acting[0] + origin
            values[hopeless] = -np.inf
            values[ending] = utility.ending[ending]
        self.value = dynamics.at_start(values)
        visits = dynamics.start
        for t in range(horizon):
            self._visits[t] = visits
            np.multiply(afterstates.collected @ (self._shares[t] * visits), self._weights[t], out=self._moved[t])
            visits = afterstates.arriving @ self._moved[t]

    def counts(self, on_actions: bool) -> Floats:
        return Occupancy.counted(self.flow, on_actions) if on_actions else self._visits.sum(axis=0)

    def change(self, direction: Utility, on_actions: bool) -> Floats:
        if on_actions:
            return Occupancy.counted(self.tangent(direction), on_actions)
        return sum((visits for _, _, visits, _ in self._tangent(direction)), start=np.zeros_like(self._visits[0]))

    @cached_property
    def deciding(self) -> Floats:
        total = np.zeros(self._after.which.shape)
        for weights, shares, visits in zip(self._weights[:-1], self._shares[:-1], self._visits[:-1], strict=True):
            total += (shares * visits) * weights[self._after.which]
        return total

    @property
    def flow(self) -> Iterator[Occupancy]:
        for weights, shares, visits in zip(self._weights, self._shares, self._visits, strict=True):
            yield Occupancy((shares * visits) * weights[self._after.which], visits)

    def tangent(self, direction: Utility) -> Iterator[Occupancy]:
        for t, tilt, change, mean in self._tangent(direction):
            shift = change + self._visits[t] * (tilt[self._after.which] - mean)
            yield Occupancy(self._shares[t] * shift * self._weights[t][self._after.which], change)

    def _tangent(self, direction: Utility) -> Iterator[tuple[int, Floats, Floats, Floats]]:
        """Of each time: (R,) change of what afterstates are worth, (S,) of visits, (S,) of what states lead to."""
        after, (horizon, S), ending = self._after, self._visits.shape, self._after.dynamics.ending
        tilts, means, values = np.empty_like(self._weights), np.empty_like(self._visits), np.zeros(S)
        for t in reversed(range(horizon)):
            tilts[t] = after.following @ values
            np.multiply(after.counts @ (self._weights[t] * tilts[t]), self._shares[t], out=means[t])
            values = means[t] + direction.acting[0]
            values[ending] = direction.ending[ending]
        change = np.zeros(S)
        for t in range(horizon):
            yield t, tilts[t], change, means[t]
            shift = after.collected @ ((change - self._visits[t] * means[t]) * self._shares[t])
            shift *= self._weights[t]
            tilts[t] *= self._moved[t]
            shift += tilts[t]
            change = after.arriving @ shift


def _exponentials(values: Floats, out: Floats) -> float:
    """The exponentials of values less the largest, which is returned."""
    origin = float(values.max())
    origin = origin if np.isfinite(origin) else 0.0
    np.exp(np.subtract(values, origin, out=out), out=out)
    if out.min() < SMALLEST and np.isfinite(values[out < SMALLEST]).any():
        raise TooWide
    return origin


def _distinct(successors: csr_array) -> tuple[Indices, Indices]:
    """The first of each kind of row, and the kind of every row; what two random sums do not tell apart is compared."""
    rng = np.random.default_rng(0)
    sums = successors @ rng.normal(size=(successors.shape[1], 2))
    _, first, which = np.unique(sums[:, 0] + 1j * sums[:, 1], return_index=True, return_inverse=True)
    alike = successors[first[which]]
    parts = ((alike.indptr, successors.indptr), (alike.indices, successors.indices), (alike.data, successors.data))
    if all(np.array_equal(*pair) for pair in parts):
        return first, which
    every = np.arange(successors.shape[0])
    return every, every
