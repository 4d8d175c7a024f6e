"""Transitions and rewards of a model, laid out for recursions over time."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from gde.data.mdp import Floats, TabularMDP

Indices = NDArray[np.intp]


class Utility(NamedTuple):
    """The utility of acting and of ending; actions come first, so that sums over them read contiguous memory."""

    acting: Floats
    """(A, S) earned by an action in a state, or (1, S) if every action earns the same."""
    ending: Floats
    """(S,) earned in a terminal state; zero elsewhere."""

    def scaled(self, factor: float) -> "Utility":
        """Return the same utility in other units."""
        return Utility(factor * self.acting, factor * self.ending)

    def at(self, states: Indices | slice) -> "Utility":
        """Return the utility of these states alone, in their order."""
        return Utility(self.acting[:, states], self.ending[states])


class Occupancy(NamedTuple):
    """Expected discounted counts, at one time step or over a whole episode."""

    taken: Floats
    """(A, S) how often an action is taken in a state."""
    visits: Floats
    """(S,) how often a state is visited; a terminal state counts on arrival alone."""

    def counts(self, on_actions: bool) -> Floats:
        """Return (S, A) actions taken, or (S,) visits: what a reward of that shape is earned for."""
        return self.taken.T if on_actions else self.visits

    @staticmethod
    def counted(flow: Iterable["Occupancy"], on_actions: bool) -> Floats:
        """Sum the counts over time."""
        first, *later = (now.counts(on_actions) for now in flow)
        total = first.copy()
        for counts in later:
            total += counts
        return total

    def earns(self, utility: Utility) -> float:
        """Return the expected utility."""
        return float((self.taken * utility.acting).sum() + self.visits @ utility.ending)


class Transitions:
    """The transitions from S states to M states, as one sparse matrix for all actions.

    One matrix product looks one step ahead. Mostly both S and M are all states of a world.
    """

    def __init__(self, successors: csr_array, n_actions: int, discount: float, ending: Indices) -> None:
        """Take the transitions.

        Args:
            successors: (A * S, M) probabilities, row action * S + state.
            n_actions: A.
            discount: factor on everything that follows.
            ending: indices of the terminal ones among the S states.
        """
        self.n_actions = n_actions
        self.discount = discount
        self.ending = ending
        self.n_states = successors.shape[0] // n_actions
        self.n_following = successors.shape[1]
        self.successors = successors
        self._predecessors = successors.T

    def ahead(self, values: Floats) -> Floats:
        """Return the (A, S) discounted expectations of (M,) values one step ahead."""
        expected: Floats = (self.successors @ values).reshape(self.n_actions, self.n_states)
        if self.discount == 1:
            return expected
        return np.multiply(expected, self.discount, out=expected)

    def arrivals(self, taken: Floats) -> Floats:
        """Return the (M,) discounted probabilities of each next state, given (A, S) actions taken."""
        arrived: Floats = self._predecessors @ taken.ravel()
        if self.discount == 1:
            return arrived
        return np.multiply(arrived, self.discount, out=arrived)


class Dynamics(Transitions):
    """The transitions of a whole world.

    A terminal state ends the episode, and nothing is decided there. The discount is the probability that an episode
    goes on after a step. So it weighs decisions like rewards, and the formulas for finite episodes hold unchanged.
    """

    def __init__(self, mdp: TabularMDP) -> None:
        if mdp.terminal is None:
            self.going: NDArray[np.bool_] = np.ones(mdp.n_states, dtype=bool)
        else:
            self.going = ~mdp.terminal

        successors = vstack(mdp.transition, format="csr")
        # A stored zero times a value of -inf would be NaN.
        successors.eliminate_zeros()
        if max(successors.nnz, successors.shape[0]) < 2**31:
            # Half of what a product reads are indices, so small indices save time.
            indices = successors.indices.astype(np.int32, copy=False)
            ends = successors.indptr.astype(np.int32, copy=False)
            successors = csr_array((successors.data, indices, ends), shape=successors.shape)

        super().__init__(successors, mdp.n_actions, mdp.discount, np.flatnonzero(~self.going))
        self.start = mdp.start

    def at_start(self, values: Floats) -> float:
        """Return the expectation of (S,) values in the first state."""
        # Elsewhere a value may be -inf, and zero times that would be NaN.
        begun = self.start > 0
        return float(self.start[begun] @ values[begun])

    def utility(self, reward: Floats) -> Utility:
        """Read a reward: (S,) is earned in every state visited, (S, A) by acting and never in a terminal state."""
        if reward.ndim == 2:
            return Utility(np.ascontiguousarray(reward.T), np.zeros(self.n_states))
        return Utility(reward[None, :], np.where(self.going, 0.0, reward))

    def consequential(self) -> NDArray[np.bool_]:
        """Return (S,) whether the actions of a state differ in what follows."""
        S = self.n_states
        first = self.successors[:S]
        differing = np.zeros(S, dtype=bool)
        for action in range(1, self.n_actions):
            different = first != self.successors[action * S : (action + 1) * S]
            differing |= np.diff(different.tocsr().indptr) > 0
        return differing & self.going
