"""Soft-optimal policies in deterministic worlds: the exponentials of values follow a linear recursion.

With a utility of states alone, and one successor s' of each action, exp V[t, s] = exp u[s] times the mean over actions
of exp V[t + 1, s'] (Todorov 2007, who calls exp V the desirability). Actions are chosen in proportion to exp V[s']. So
no step takes a logarithm. All sums are of positive numbers, so nothing is lost to cancellation. The numbers must only
be neither too large nor too small for floating point.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Utility
from gde_plugins.meg.solvers.unrolled import Stage, Unrolled

LARGEST = 690.0
"""Nats by which values may differ from the middle; floating point ends at exp 709."""


class Desirability:
    """The linear recursion of unrolled decisions."""

    def __init__(self, unrolled: Unrolled) -> None:
        """Take decisions in a world of which `applies` holds."""
        self._unrolled = unrolled
        self._n_actions = unrolled.dynamics.n_actions
        self._ends = bool(len(unrolled.dynamics.ending))
        self._following = unrolled.decisions.successors.indices.reshape(self._n_actions, -1)
        self._steps = [(step, _action_counts(step.stage)) for step in unrolled.steps[1:]]
        self._backwards = [(step, matrix.T) for step, matrix in reversed(self._steps)]

    @staticmethod
    def applies(dynamics: Dynamics) -> bool:
        """Return whether every action has one certain successor, and no discount ends episodes."""
        certain = bool((np.diff(dynamics.successors.indptr) == 1).all())
        return certain and dynamics.discount == 1

    def within(self, utility: Utility) -> bool:
        """Return whether the utility, in nats, is one of states and floating point can hold its exponentials."""
        low, high = self._range(utility)
        return len(utility.acting) == 1 and (high - low) / 2 * self._unrolled.horizon <= LARGEST

    def response(self, utility: Utility) -> "LinearResponse":
        """Find the soft-optimal choices for a utility in nats of which `within` holds."""
        # Every time step is worth as much less as makes the middle of all utilities zero, which changes no choice.
        middle = sum(self._range(utility)) / 2
        growth = (np.exp(utility.acting[0] - middle) / self._n_actions)[self._unrolled.states]
        # With one state to go that is all.
        desirable = growth * self._n_actions
        desirable[self._unrolled.n_lasting :] = 1.0
        for to_go, ((stage, here, after), matrix) in enumerate(self._steps, start=2):
            np.multiply(growth[here], matrix @ desirable[after], out=desirable[here])
            if self._ends:
                ended = utility.ending[stage.states[stage.ending]]
                desirable[here][stage.ending] = np.exp(ended - to_go * middle)
        followed = desirable[self._following]
        return LinearResponse(self, desirable, growth, followed / followed.sum(axis=0))

    def pull(self, desirable: Floats, growth: Floats, change: Floats) -> Floats:
        """See `Response.pull`; the first two arguments are those of `LinearResponse`."""
        weights = change / desirable[self._following]
        pulled = np.bincount(self._following.ravel(), weights=weights.ravel(), minlength=len(desirable))
        for (stage, here, after), matrix in self._backwards:
            going = growth[here] * pulled[here]
            going[stage.ending] = 0.0
            pulled[after] += matrix @ going
        return self._unrolled.by_state(desirable * pulled)

    def _range(self, utility: Utility) -> tuple[float, float]:
        """Return the least and the most that a time step is worth; after an end it is worth nothing."""
        low = float(utility.acting.min())
        high = float(utility.acting.max())
        return (min(low, 0.0), max(high, 0.0)) if self._ends else (low, high)


@dataclass(frozen=True, eq=False)
class LinearResponse:
    """The choices for one utility, in a deterministic world. A `Response`."""

    desirability: Desirability
    desirable: Floats
    """(N,) exp V."""
    growth: Floats
    """(N,) exp u of the states, divided by the number of actions."""
    policy: Floats

    def pull(self, change: Floats) -> Floats:
        return self.desirability.pull(self.desirable, self.growth, change)


def _action_counts(stage: Stage) -> csr_array:
    """Return the (S, M) number of actions that lead from one state to another."""
    followed = stage.successors.indices.reshape(stage.n_actions, -1)
    ends = np.arange(0, followed.size + 1, stage.n_actions, dtype=followed.dtype)
    entries = np.ones(followed.size), followed.ravel(order="F"), ends
    counts = csr_array(entries, shape=(stage.n_states, stage.n_following))
    counts.sum_duplicates()
    return counts
