"""Where to go from a utility of states: Newton's step as it would be if the soft-optimal policy were stationary.

The curvature of the soft value is the variance of what utility an episode earns that is owed to the choice of actions.
A change of utility u changes values to come by M u, M = (I - P)^-1, with P the moves of the policy, and a decision's
part of the variance is that, between its actions, of the value expected. With C the sum of these over decisions the
curvature is M' C M, so its inverse is (I - P) C^-1 (I - P)': sparse products, and a sparse system in between.

Without horizon this is exact. With one, choices and values depend on time; P is then the average over time that leads
to the same visits, and C the sum. That is near enough to make conjugate gradients end within a few steps.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator, cg, splu

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics
from gde_plugins.meg.solvers.stationary_fit import ORDERING, moves

ROUNDING = 1e-6
"""Added to the diagonal of C, as a share of it: some changes of values leave every choice as it is."""
LEAST = 1e-13
"""The same, as a share of the largest: of states that are hardly ever visited."""
NARROW = 64
"""A world counts as a map if no state, in the order of a walk over it, is further from its neighbours than the square
root of so many times the number of states. Of others, a factorisation would fill: there the system is iterated."""
CLOSE = 1e-2
"""Share of the right-hand side at which the iteration ends."""

Solve = Callable[[Floats], Floats]


class Surrogate:
    """A world as far as utilities of some of its states matter."""

    def __init__(self, dynamics: Dynamics, where: NDArray[np.bool_]) -> None:
        """Take the world and (S,) which K states have a utility that is finite."""
        self._dynamics, self._where, self.is_map = dynamics, where, _is_map(dynamics)

    def solve(self, taken: Floats, visits: Floats) -> Solve:
        """About the change of (K,) utilities that closes a (K,) difference in visits.

        Args:
            taken: (A, S) decisions of a whole episode that have consequences.
            visits: (S,) of a whole episode.
        """
        dynamics, where = self._dynamics, self._where
        solve = self._factorised(taken) if self.is_map else self._iterated(taken)
        chances = np.divide(taken, visits, where=visits > 0, out=np.zeros_like(taken))

        def step(missing: Floats) -> Floats:
            whole = np.zeros(dynamics.n_states)
            whole[where] = missing
            values = solve(whole - dynamics.arrivals(chances * whole))
            return np.asarray((values - (chances * dynamics.ahead(values)).sum(axis=0))[where])

        return step

    def _factorised(self, taken: Floats) -> Solve:
        """Solve C for (S,) values by a factorisation."""
        dynamics, S = self._dynamics, self._dynamics.n_states
        moved = dynamics.discount * moves(dynamics, taken)
        curvature = -(moved.T @ (diags_array(_inverse(taken.sum(axis=0))) @ moved))
        for a, weights in enumerate(taken):
            led = dynamics.discount * dynamics.successors[a * S : (a + 1) * S]
            curvature = curvature + led.T @ (diags_array(weights) @ led)
        scale, more = _scaled(curvature.diagonal())
        system = csc_array(diags_array(scale) @ (curvature + diags_array(more)) @ diags_array(scale))
        factors = splu(system, permc_spec=ORDERING, diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        return lambda missing: scale * factors.solve(scale * missing)

    def _iterated(self, taken: Floats) -> Solve:
        """The same by conjugate gradients: C is the covariance, between actions, of where they lead."""
        dynamics, S = self._dynamics, self._dynamics.n_states
        shares = taken * _inverse(taken.sum(axis=0))
        squared = dynamics.successors.power(2).T @ taken.ravel()
        scale, more = _scaled(dynamics.discount**2 * squared)

        def product(values: Floats) -> Floats:
            values = scale * values
            expected = dynamics.ahead(values)
            expected -= (shares * expected).sum(axis=0)
            return scale * (dynamics.arrivals(taken * expected) + more * values)

        system = LinearOperator((S, S), matvec=product, dtype=np.float64)
        return lambda missing: scale * cg(system, scale * missing, rtol=CLOSE)[0]


def _inverse(numbers: Floats) -> Floats:
    return np.divide(1.0, numbers, where=numbers > 0, out=np.zeros_like(numbers))


def _scaled(diagonal: Floats) -> tuple[Floats, Floats]:
    """What makes a diagonal one, and what is added to it before."""
    diagonal = np.maximum(diagonal, 0)  # what should be zero may be less, by rounding
    more = ROUNDING * diagonal + LEAST * float(diagonal.max(initial=0.0)) + float(not diagonal.any())
    return 1 / np.sqrt(diagonal + more), more


def _is_map(dynamics: Dynamics) -> bool:
    pattern = moves(dynamics, np.ones((dynamics.n_actions, dynamics.n_states)))
    order = reverse_cuthill_mckee(csr_array(pattern + pattern.T), symmetric_mode=True)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    pairs = pattern.tocoo()
    width = np.abs(place[pairs.row] - place[pairs.col]).max(initial=0)
    return bool(width**2 <= NARROW * len(order))
