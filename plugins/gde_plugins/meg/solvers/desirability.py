"""Soft-optimal policies where nothing is left to chance: the exponentials of values follow a linear recursion.

With a utility of states alone, and one successor s' of each action, exp V_t(s) = exp u(s) times the mean over actions
of exp V_{t+1}(s') (Todorov 2007, who calls exp V the desirability), and actions are chosen in proportion to exp V(s').
No logarithm is taken but of the probabilities asked for, and many rationalities take the same steps at once. All sums
are of positive numbers, so nothing is lost as long as they are neither too large nor too small for floating point.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Utility
from gde_plugins.meg.solvers.unrolled import Unrolled

LARGEST = 600.0
"""Nats between the most and the least utility of an episode, or none, up to which desirabilities and their quotients
stay within floating point, which ends at exp 709."""


class Desirability:
    """The linear recursion of unrolled decisions."""

    def __init__(self, unrolled: Unrolled) -> None:
        """Take decisions in a world of which `applies` holds."""
        self._unrolled, self._n_actions = unrolled, unrolled.dynamics.n_actions
        self._following = unrolled.decisions.successors.indices.reshape(self._n_actions, -1)
        self._sums = [_summed(step.stage.successors, self._n_actions) for step in unrolled.steps]
        self._backwards = [matrix.T for matrix in self._sums]

    @staticmethod
    def applies(dynamics: Dynamics) -> bool:
        """Whether every action has one successor for certain, and episodes do not stop by a discount."""
        certain = bool((np.diff(dynamics.successors.indptr) == 1).all())
        return certain and dynamics.discount == 1

    def within(self, utility: Utility, beta: float) -> bool:
        """Whether it holds of this utility, and floating point suffices at rationality `beta`."""
        span = float(utility.acting.max(initial=0.0) - utility.acting.min(initial=0.0))
        return len(utility.acting) == 1 and span * abs(beta) * self._unrolled.horizon <= LARGEST

    def policies(self, utility: Utility, betas: Floats) -> Floats:
        """(A, D, B) soft-optimal probabilities at each of B rationalities."""
        followed = self._desirable(utility, betas)[0][self._following]
        chosen: Floats = np.divide(followed, followed.sum(axis=0), out=followed)
        return chosen

    def response(self, utility: Utility) -> "LinearResponse":
        """The soft-optimal choices for a utility in nats."""
        desirable, growth = self._desirable(utility, np.float64(1.0))
        followed = desirable[self._following]
        return LinearResponse(self, desirable, growth, followed, followed / followed.sum(axis=0))

    def pull(self, desirable: Floats, growth: Floats, change: Floats) -> Floats:
        """(S,) as `Response.pull`, given (N,) desirabilities and growths and the (A, D) change by their logarithms."""
        weights = change / desirable[self._following]
        pulled = np.bincount(self._following.ravel(), weights=weights.ravel(), minlength=len(desirable))
        for (stage, here, after), matrix in zip(self._unrolled.steps[::-1], self._backwards[::-1], strict=True):
            going = growth[here] * pulled[here]
            going[stage.ending] = 0.0
            pulled[after] += matrix @ going
        return self._unrolled.by_state(desirable * pulled)

    def _desirable(self, utility: Utility, betas: Floats) -> tuple[Floats, Floats]:
        """(N, *betas.shape) exp V, and exp u less the number of actions, by which it is multiplied."""
        earned = np.exp(np.multiply.outer(utility.acting[0], betas))
        growth = (earned / self._n_actions)[self._unrolled.states]
        desirable = np.ones_like(growth)
        for (stage, here, after), matrix in zip(self._unrolled.steps, self._sums, strict=True):
            np.multiply(growth[here], matrix @ desirable[after], out=desirable[here])
            if len(stage.ending):
                desirable[here][stage.ending] = earned[stage.states[stage.ending]]
        return desirable, growth


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """The choices for one utility, in a world without chance. A `Response`."""

    desirability: Desirability
    desirable: Floats
    growth: Floats
    followed: Floats
    policy: Floats

    def pull(self, change: Floats) -> Floats:
        return self.desirability.pull(self.desirable, self.growth, change)


def _summed(successors: csr_array, n_actions: int) -> csr_array:
    """(S, M) number of actions that lead from one state to another, one entry for each action."""
    followed = successors.indices.reshape(n_actions, -1)
    n_states = followed.shape[1]
    ends = np.arange(0, n_actions * n_states + 1, n_actions, dtype=followed.dtype)
    counts = np.ones(n_actions * n_states)
    return csr_array((counts, np.ascontiguousarray(followed.T).ravel(), ends), shape=(n_states, successors.shape[1]))
