"""Soft-optimal policies where nothing is left to chance: the exponentials of values follow a linear recursion.

With a utility of states alone, and one successor s' of each action, exp V_t(s) = exp u(s) times the mean over actions
of exp V_{t+1}(s') (Todorov 2007, who calls exp V the desirability), and actions are chosen in proportion to exp V(s').
So no step takes a logarithm. All sums are of positive numbers: nothing is lost to cancellation, and everything is well
as long as the numbers are neither too large nor too small for floating point.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Indices, Utility
from gde_plugins.meg.solvers.unrolled import Stage, Unrolled

LARGEST = 690.0
"""Nats by which values may differ from the middle, so that floating point, which ends at exp 709, can hold them."""


class Desirability:
    """The linear recursion of unrolled decisions."""

    def __init__(self, unrolled: Unrolled) -> None:
        """Take decisions in a world of which `applies` holds."""
        self._unrolled, self._n_actions = unrolled, unrolled.dynamics.n_actions
        self._ends = bool(len(unrolled.dynamics.ending))
        self._following = unrolled.decisions.successors.indices.reshape(self._n_actions, -1)
        self._steps = [(step, _counted(step.stage)) for step in unrolled.steps[1:]]
        self._backwards = [(step, matrix.T) for step, matrix in reversed(self._steps)]

    @staticmethod
    def applies(dynamics: Dynamics) -> bool:
        """Whether every action has one successor for certain, and episodes do not stop by a discount."""
        certain = bool((np.diff(dynamics.successors.indptr) == 1).all())
        return certain and dynamics.discount == 1

    def within(self, utility: Utility) -> bool:
        """Whether it holds of this utility, in nats, and floating point suffices."""
        low, high = utility_range(utility, self._ends)
        return len(utility.acting) == 1 and (high - low) / 2 * self._unrolled.horizon <= LARGEST

    def response(self, utility: Utility) -> "LinearResponse":
        """The soft-optimal choices for a utility in nats of which `within` holds.

        Every time step is worth as much less as makes the middle of all utilities zero, which changes no choice.
        """
        middle = sum(utility_range(utility, self._ends)) / 2
        growth = (np.exp(utility.acting[0] - middle) / self._n_actions)[self._unrolled.states]
        desirable = growth * self._n_actions  # with one state to go that is all
        desirable[self._unrolled.n_lasting :] = 1.0
        for to_go, ((stage, here, after), matrix) in enumerate(self._steps, start=2):
            np.multiply(growth[here], matrix @ desirable[after], out=desirable[here])
            if self._ends:
                ended = utility.ending[stage.states[stage.ending]]
                desirable[here][stage.ending] = np.exp(ended - to_go * middle)
        followed = desirable[self._following]
        return LinearResponse(self, desirable, growth, followed / followed.sum(axis=0))

    def pull(self, desirable: Floats, growth: Floats, change: Floats) -> Floats:
        """(S,) as `Response.pull`, given what `LinearResponse` holds."""
        weights = change / desirable[self._following]
        pulled = np.bincount(self._following.ravel(), weights=weights.ravel(), minlength=len(desirable))
        for (stage, here, after), matrix in self._backwards:
            going = growth[here] * pulled[here]
            going[stage.ending] = 0.0
            pulled[after] += matrix @ going
        return self._unrolled.by_state(desirable * pulled)


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """The choices for one utility, in a world without chance. A `Response`."""

    desirability: Desirability
    desirable: Floats
    """(N,) exp V."""
    growth: Floats
    """(N,) exp u of the states, divided by the number of actions."""
    policy: Floats

    def pull(self, change: Floats) -> Floats:
        return self.desirability.pull(self.desirable, self.growth, change)


def _counted(stage: Stage) -> csr_array:
    """(S, M) number of actions that lead from one state to another."""
    return summed(stage.successors.indices.reshape(stage.n_actions, -1), stage.n_following)


def utility_range(utility: Utility, ends: bool) -> tuple[float, float]:
    """Least and most that a time step is worth; nothing is, where it may come after an end."""
    low, high = float(utility.acting.min()), float(utility.acting.max())
    return (min(low, 0.0), max(high, 0.0)) if ends else (low, high)


def summed(followed: Indices, n_following: int) -> csr_array:
    """(S, M) number of actions that lead from one state to another, given (A, S) where they lead."""
    n_actions, n_states = followed.shape
    ends = np.arange(0, n_actions * n_states + 1, n_actions, dtype=followed.dtype)
    entries = np.ones(n_actions * n_states), followed.ravel(order="F"), ends
    counts = csr_array(entries, shape=(n_states, n_following))
    counts.sum_duplicates()
    return counts
