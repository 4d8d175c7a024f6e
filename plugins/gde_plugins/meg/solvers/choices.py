"""Soft-optimal choices in many decisions at once, and their derivative by utility.

One pass backwards in time serves all decisions of a world, whatever the number of
states that they have still to go. There are two recursions. The general one is soft
value iteration. In deterministic worlds the exponentials of values follow a linear
recursion (Todorov 2007, who calls exp V the desirability): exp V[t, s] is exp u[s]
times the mean over actions of exp V[t + 1, s']. It is several times as fast, since it
takes no logarithm and one product serves all actions. All its sums are of positive
numbers, so nothing is lost to cancellation.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from gde.data.arrays import Doubles, Indices
from gde_plugins.meg.solvers.dynamics import Dynamics, Utility
from gde_plugins.meg.solvers.limits import backwards
from gde_plugins.meg.solvers.softmax import soft_step

LARGEST = 690.0
"""Nats by which values may differ from the middle; floating point ends at exp 709."""

Pull = Callable[[Doubles], Doubles]
"""From the (A, D) derivative of anything by the values of the actions in D decisions to
its (S,) derivative by the utility of states. The derivatives by the actions of one
decision must sum to zero, as those of log-probabilities do.
"""


class Choices:
    """D decisions in a world."""

    def __init__(self, dynamics: Dynamics, states: Indices, to_go: Indices) -> None:
        """Take the decisions.

        Args:
            dynamics: the world.
            states: (D,) where the decisions are taken.
            to_go: (D,) number of states that count from each decision on, its own
                included; in rising order.
        """
        self._dynamics = dynamics
        self._states = states
        self._to_go = to_go
        self._horizon = int(to_go.max(initial=1))
        times = np.arange(1, self._horizon + 2)
        self._ends = np.searchsorted(to_go, times)

        n_successors = np.diff(dynamics.successors.indptr)
        is_certain = bool((n_successors == 1).all())
        self._is_linear = is_certain and dynamics.discount == 1

    def policy(self, utility: Utility, beta: float) -> Doubles:
        """Return (A, D) soft-optimal probabilities; the rationality may be +-inf."""
        if np.isinf(beta):
            signed = utility.scaled(np.sign(beta))
            steps = backwards(self._dynamics, signed, self._horizon)
            return self._gathered(step.policy for step in steps)
        return self.response(utility.scaled(beta))[0]

    def response(self, utility: Utility) -> tuple[Doubles, Pull]:
        """Return the (A, D) policy for a utility in nats, and the way to derivatives."""
        if self._is_linear and len(utility.acting) == 1:
            low = float(utility.acting.min())
            high = float(utility.acting.max())
            # After an end nothing is earned.
            if len(self._dynamics.ending):
                low = min(low, 0.0)
                high = max(high, 0.0)
            # Floating point must hold the exponentials of whole episodes.
            if (high - low) / 2 * self._horizon <= LARGEST:
                return self._linear(utility, (low + high) / 2)
        return self._general(utility)

    def _general(self, utility: Utility) -> tuple[Doubles, Pull]:
        dynamics = self._dynamics
        values = np.zeros(dynamics.n_states)
        policies = []
        for _ in range(self._horizon):
            values, policy = soft_step(dynamics, utility, values)
            policies.append(policy)

        def pull(change: Doubles) -> Doubles:
            total = np.zeros(dynamics.n_states)
            pulled = np.zeros(dynamics.n_states)
            for policy, (states, decisions) in zip(
                reversed(policies), reversed([*self._by_time()]), strict=True
            ):
                total += pulled
                pulled[dynamics.ending] = 0.0
                by_action = policy * pulled
                np.add.at(by_action.T, states, change[:, decisions].T)
                pulled = dynamics.arrivals(by_action)
            return total

        return self._gathered(policies), pull

    def _linear(self, utility: Utility, middle: float) -> tuple[Doubles, Pull]:
        # Take the middle of all utilities off every time step, which changes no choice
        # and keeps exponentials small.
        dynamics = self._dynamics
        ending = dynamics.ending
        growth = np.exp(utility.acting[0] - middle) / dynamics.n_actions

        # exp V by number of states to go; with none, a state is worth nothing.
        desirable = np.ones((self._horizon, dynamics.n_states))
        for to_go in range(1, self._horizon):
            followed = self._counts @ desirable[to_go - 1]
            np.multiply(growth, followed, out=desirable[to_go])
            # An end is worth its utility once, but the middle was to be taken off every
            # step that is left.
            if len(ending):
                nats = utility.ending[ending] - to_go * middle
                desirable[to_go, ending] = np.exp(nats)

        place = (self._to_go - 1, self._following[:, self._states])
        ahead = desirable[place]

        def pull(change: Doubles) -> Doubles:
            # The recursion is linear in exp V, so derivatives by V are divided by exp V
            # here and multiplied at the end.
            slopes = np.zeros_like(desirable)
            np.add.at(slopes, place, change / ahead)
            for to_go in reversed(range(1, self._horizon - 1)):
                going = growth * slopes[to_go + 1]
                going[ending] = 0.0
                slopes[to_go] += self._predecessors @ going
            # With nothing to go, no utility changes the value.
            total: Doubles = (desirable * slopes)[1:].sum(axis=0)
            return total

        return ahead / ahead.sum(axis=0), pull

    def _gathered(self, policies: Iterable[Doubles]) -> Doubles:
        """Pick the (A, D) choices from (A, S) policies, from one state to go to all."""
        gathered = np.empty((self._dynamics.n_actions, len(self._states)))
        for policy, (states, decisions) in zip(policies, self._by_time(), strict=True):
            gathered[:, decisions] = policy[:, states]
        return gathered

    def _by_time(self) -> Iterator[tuple[Indices, slice]]:
        """Yield the states and places of the decisions with 1, 2, ... states to go."""
        for start, end in zip(self._ends[:-1], self._ends[1:], strict=True):
            yield self._states[start:end], slice(start, end)

    @cached_property
    def _following(self) -> Indices:
        """(A, S) the state that each action leads to in a deterministic world."""
        indices: Indices = self._dynamics.successors.indices
        return indices.reshape(self._dynamics.n_actions, -1)

    @cached_property
    def _counts(self) -> csr_array:
        """(S, S) number of actions that lead from one state to another."""
        n_actions, n_states = self._following.shape
        columns = self._following.ravel(order="F")
        ends = np.arange(0, columns.size + 1, n_actions)
        ones = np.ones(columns.size)
        counts = csr_array((ones, columns, ends), shape=(n_states, n_states))
        counts.sum_duplicates()
        return counts

    @cached_property
    def _predecessors(self) -> csr_array:
        return csr_array(self._counts.T)
