"""Soft-optimal policies in deterministic worlds: the exponentials of values follow a
linear recursion.

With a utility of states alone, and one successor s' of each action, exp V[t, s] = exp
u[s] times the mean over actions of exp V[t + 1, s'] (Todorov 2007, who calls exp V the
desirability). Actions are chosen in proportion to exp V[s']. So no step takes a
logarithm. All sums are of positive numbers, so nothing is lost to cancellation. The
numbers must be neither too large nor too small for floating point.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Utility
from gde_plugins.meg.solvers.unrolled import Stage, Step, Unrolled

LARGEST = 690.0
"""Nats by which values may differ from the middle; floating point ends at exp 709."""


class Desirability:
    """The linear recursion of unrolled decisions."""

    def __init__(self, unrolled: Unrolled) -> None:
        """Take decisions in a world of which `applies` holds."""
        dynamics = unrolled.dynamics
        self.unrolled = unrolled
        self._n_actions = dynamics.n_actions
        self._ends = len(dynamics.ending) > 0

        # One successor each, so the column indices alone say where the actions of the
        # decisions lead.
        indices = unrolled.decisions.successors.indices
        self.following = indices.reshape(self._n_actions, -1)
        """(A, D) the value that each action of a decision leads to."""

        # The values with one state to go need no product.
        self._steps: list[tuple[Step, csr_array]] = []
        for step in unrolled.steps[1:]:
            counts = _action_counts(step.stage)
            self._steps.append((step, counts))

        # Kept, because every derivative needs the transposed matrices in the other
        # order.
        self.backwards: list[tuple[Step, csr_array]] = []
        """The steps in reverse order, each with the (M, S) number of actions that lead
        to a state from another.
        """
        for step, counts in reversed(self._steps):
            self.backwards.append((step, counts.T))

    @staticmethod
    def applies(dynamics: Dynamics) -> bool:
        """Return whether every action has one certain successor, and no discount ends
        episodes.
        """
        n_successors = np.diff(dynamics.successors.indptr)
        is_certain = bool((n_successors == 1).all())
        return is_certain and dynamics.discount == 1

    def within(self, utility: Utility) -> bool:
        """Return whether the utility, in nats, is one of states and floating point can
        hold its exponentials.
        """
        low, high = self._range(utility)
        farthest = (high - low) / 2 * self.unrolled.horizon
        is_of_states = len(utility.acting) == 1
        return is_of_states and farthest <= LARGEST

    def response(self, utility: Utility) -> "LinearResponse":
        """Find the soft-optimal choices for a utility in nats of which `within`
        holds.
        """
        # Take the middle of all utilities off every time step, which changes no choice
        # and keeps exponentials small.
        low, high = self._range(utility)
        middle = (low + high) / 2
        by_state = np.exp(utility.acting[0] - middle) / self._n_actions
        growth = by_state[self.unrolled.states]

        # With one state to go, a state is worth its own utility; with none, nothing.
        desirable = growth * self._n_actions
        desirable[self.unrolled.n_lasting :] = 1.0

        for to_go, (step, counts) in enumerate(self._steps, start=2):
            stage, here, after = step
            followed = counts @ desirable[after]
            np.multiply(growth[here], followed, out=desirable[here])

            # An end is worth its utility once, but the middle was to be taken off every
            # step that is left.
            if self._ends:
                ended = stage.states[stage.ending]
                nats = utility.ending[ended] - to_go * middle
                desirable[here][stage.ending] = np.exp(nats)

        ahead = desirable[self.following]
        policy = ahead / ahead.sum(axis=0)
        return LinearResponse(self, desirable, growth, policy)

    def _range(self, utility: Utility) -> tuple[float, float]:
        """Return the least and the most that a time step is worth; after an end it is
        worth nothing.
        """
        low = float(utility.acting.min())
        high = float(utility.acting.max())
        if self._ends:
            low = min(low, 0.0)
            high = max(high, 0.0)
        return low, high


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
        following = self.desirability.following

        # The recursion is linear in exp V, so derivatives by V are divided by exp V
        # here and multiplied at the end.
        weights = change / self.desirable[following]
        pulled = np.bincount(
            following.ravel(),
            weights=weights.ravel(),
            minlength=len(self.desirable),
        )
        for step, counts in self.desirability.backwards:
            stage, here, after = step
            going = self.growth[here] * pulled[here]
            going[stage.ending] = 0.0
            pulled[after] += counts @ going
        return self.desirability.unrolled.by_state(self.desirable * pulled)


def _action_counts(stage: Stage) -> csr_array:
    """Return the (S, M) number of actions that lead from one state to another."""
    followed = stage.successors.indices.reshape(stage.n_actions, -1)
    columns = followed.ravel(order="F")
    ends = np.arange(0, followed.size + 1, stage.n_actions, dtype=followed.dtype)
    ones = np.ones(followed.size)

    # Actions that lead to the same state are stored apart at first, and then added up.
    shape = (stage.n_states, stage.n_following)
    counts = csr_array((ones, columns, ends), shape=shape)
    counts.sum_duplicates()
    return counts
