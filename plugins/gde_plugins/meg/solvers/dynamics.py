"""A model's transitions and rewards in the shape that recursions over time need."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from gde.data.mdp import Floats, TabularMDP

Indices = NDArray[np.intp]


class Utility(NamedTuple):
    """What is earned; actions come first, so that a sum over them runs over contiguous memory."""

    acting: Floats
    """(A, S) earned by an action in a state, or (1, S) if any action earns it."""
    ending: Floats
    """(S,) earned in a terminal state; zero elsewhere."""

    def scaled(self, factor: float) -> "Utility":
        """The same utility in other units."""
        return Utility(factor * self.acting, factor * self.ending)

    def at(self, states: Indices | slice) -> "Utility":
        """The same utility of these states alone, in their order."""
        return Utility(self.acting[:, states], self.ending[states])


class Occupancy(NamedTuple):
    """Expected discounted numbers of times, at one time step or over a whole episode."""

    taken: Floats
    """(A, S) that an action is taken in a state."""
    visits: Floats
    """(S,) that a state is visited, a terminal one only on arrival."""

    @classmethod
    def total(cls, flow: Iterable["Occupancy"]) -> "Occupancy":
        """The sum over time."""
        first, *later = flow
        taken, visits = first.taken.copy(), first.visits.copy()
        for now in later:
            taken += now.taken
            visits += now.visits
        return cls(taken, visits)

    def counts(self, on_actions: bool) -> Floats:
        """(S, A) actions taken, or (S,) visits: what a reward of that shape is earned for."""
        return self.taken.T if on_actions else self.visits

    @staticmethod
    def counted(flow: Iterable["Occupancy"], on_actions: bool) -> Floats:
        """The sum of counts over time."""
        first, *later = (now.counts(on_actions) for now in flow)
        total = first.copy()
        for counts in later:
            total += counts
        return total

    def earns(self, utility: Utility) -> float:
        """Expected utility."""
        return float((self.taken * utility.acting).sum() + self.visits @ utility.ending)


class Transitions:
    """What the actions of some states lead to, as one sparse matrix: one product looks one step ahead, for each action.

    S states are acted in and M may follow; mostly both are all states of a world.
    """

    def __init__(self, successors: csr_array, n_actions: int, discount: float, ending: Indices) -> None:
        """Take the transitions.

        Args:
            successors: (A * S, M), row action * S + state.
            n_actions: A.
            discount: of what follows.
            ending: which of the S states are terminal.
        """
        self.n_actions, self.discount, self.ending = n_actions, discount, ending
        self.n_states, self.n_following = successors.shape[0] // n_actions, successors.shape[1]
        self.successors, self._predecessors = successors, successors.T

    def ahead(self, values: Floats) -> Floats:
        """(A, S) discounted expectation of the (M,) values of what follows an action."""
        expected: Floats = (self.successors @ values).reshape(self.n_actions, self.n_states)
        return expected if self.discount == 1 else np.multiply(expected, self.discount, out=expected)

    def arrivals(self, taken: Floats) -> Floats:
        """(M,) discounted probability of being in a state after the (A, S) actions taken."""
        arrived: Floats = self._predecessors @ taken.ravel()
        return arrived if self.discount == 1 else np.multiply(arrived, self.discount, out=arrived)


class Dynamics(Transitions):
    """The transitions of a world.

    A terminal state ends the episode: nothing is decided there. A discount is read as the chance that the episode goes
    on after a step, so it weighs decisions like rewards and every formula for episodes that end holds unchanged.
    """

    def __init__(self, mdp: TabularMDP) -> None:
        self.going: NDArray[np.bool_] = np.ones(mdp.n_states, dtype=bool) if mdp.terminal is None else ~mdp.terminal
        successors = vstack(mdp.transition, format="csr")
        successors.eliminate_zeros()  # a stored zero times a value of -inf would be NaN
        if max(successors.nnz, successors.shape[0]) < 2**31:
            # Half of what a product reads are indices.
            indices, ends = (each.astype(np.int32, copy=False) for each in (successors.indices, successors.indptr))
            successors = csr_array((successors.data, indices, ends), shape=successors.shape)
        super().__init__(successors, mdp.n_actions, mdp.discount, np.flatnonzero(~self.going))
        self.start = mdp.start

    def at_start(self, values: Floats) -> float:
        """Expectation of (S,) values in the first state."""
        begun = self.start > 0  # elsewhere a value may be -inf, which no probability makes up for
        return float(self.start[begun] @ values[begun])

    def utility(self, reward: Floats) -> Utility:
        """A reward (S,), earned in every state visited, or (S, A), earned by acting and never in a terminal state."""
        if reward.ndim == 2:
            return Utility(np.ascontiguousarray(reward.T), np.zeros(self.n_states))
        return Utility(reward[None, :], np.where(self.going, 0.0, reward))

    def consequential(self) -> NDArray[np.bool_]:
        """(S,) whether actions differ in what follows them."""
        S = self.n_states
        first = self.successors[:S]
        differing = np.zeros(S, dtype=bool)
        for a in range(1, self.n_actions):
            different = first != self.successors[a * S : (a + 1) * S]
            differing |= np.diff(different.tocsr().indptr) > 0
        return differing & self.going
