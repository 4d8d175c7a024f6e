"""Soft-optimal policies at many rationalities at once, where every decision of a state plans equally far ahead.

Then a policy depends on the state alone, and of the recursion of `gde_plugins.meg.solvers.desirability` the last values
are all that is needed: nothing is kept for other times, and the columns of one array are different rationalities.
"""

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.desirability import LARGEST, summed, utility_range
from gde_plugins.meg.solvers.dynamics import Dynamics, Indices, Utility

AT_ONCE = 16
"""Rationalities whose values are computed together: more do not fit the processor's cache."""


class Receding:
    """D decisions in worlds side by side."""

    def __init__(self, dynamics: Dynamics, states: Indices, ahead: Indices) -> None:
        """Take decisions in worlds of which `Desirability.applies` holds.

        Args:
            dynamics: the worlds.
            states: (D,) where the decisions are taken.
            ahead: (S,) states that count from a decision on, its own included; the same in all states of a world.
        """
        self._dynamics, self._horizon = dynamics, int(ahead.max(initial=1))
        decided, self._decision = np.unique(states, return_inverse=True)
        successors = dynamics.successors.indices.reshape(dynamics.n_actions, -1)
        # Worlds that plan further come first: at any time those that take part are the first so many states.
        self._order = np.argsort(-ahead, kind="stable")
        place = np.argsort(self._order)
        self._following = place[successors[:, decided]]
        self._ending = np.flatnonzero(~dynamics.going[self._order])
        counts = np.searchsorted(-ahead[self._order], -np.arange(self._horizon, 1, -1), side="right")
        self._steps = [*_steps(summed(place[successors[:, self._order]], len(place)), counts)]

    def within(self, utility: Utility, beta: float) -> bool:
        """Whether floating point suffices for a utility at a rationality."""
        low, high = utility_range(utility, len(self._ending) > 0)
        return len(utility.acting) == 1 and abs(beta) * (high - low) / 2 * self._horizon <= LARGEST

    def policies(self, utility: Utility, betas: Floats) -> Floats:
        """(A, D, B) soft-optimal probabilities at B rationalities, all of them `within`."""
        chunks = [betas[i : i + AT_ONCE] for i in range(0, len(betas), AT_ONCE)]
        followed = np.concatenate([self._desirable(utility, each)[self._following] for each in chunks], axis=-1)
        followed /= followed.sum(axis=0)
        return followed[:, self._decision]

    def _desirable(self, utility: Utility, betas: Floats) -> Floats:
        """(S, B) exp of the values of what follows a decision, states in the order that is used here."""
        low, high = utility_range(utility, len(self._ending) > 0)
        middle = betas * (low + high) / 2
        growth = np.exp(np.outer(utility.acting[0][self._order], betas) - middle) / self._dynamics.n_actions
        ended = np.exp(np.outer(utility.ending[self._order[self._ending]], betas))
        lost, desirable = np.exp(-middle), np.ones_like(growth)
        for matrix in self._steps:
            n = matrix.shape[0]
            np.multiply(growth[:n], matrix @ desirable[:n], out=desirable[:n])
            if len(self._ending):
                n_ended = np.searchsorted(self._ending, n)
                ended[:n_ended] *= lost
                desirable[self._ending[:n_ended]] = ended[:n_ended]
        return desirable


def _steps(matrix: csr_array, counts: Indices) -> Iterator[csr_array]:
    """For each time, from the last to the first, the transitions of the states that take part in it."""
    for i, n in enumerate(counts):
        if not i or n != counts[i - 1]:
            part = csr_array(matrix[:n, :n])
        yield part
