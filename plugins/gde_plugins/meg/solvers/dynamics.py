"""Transitions and rewards of a model, laid out for recursions over time."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from gde.data.arrays import Bools, Doubles, Indices
from gde.data.mdp import TabularMDP

Mask = Bools


class Utility(NamedTuple):
    """The utility of acting and of ending; actions come first, so that sums over them
    read contiguous memory.
    """

    acting: Doubles
    """(A, S) earned by an action in a state, or (1, S) if every action earns the
    same.
    """
    ending: Doubles
    """(S,) earned in a terminal state; zero elsewhere."""

    def scaled(self, factor: float) -> "Utility":
        """Return the same utility in other units."""
        return Utility(factor * self.acting, factor * self.ending)

    def absolute(self) -> "Utility":
        """Return its magnitudes, whose sums are the scale of rounding errors."""
        return Utility(np.abs(self.acting), np.abs(self.ending))

    def at(self, states: Indices | slice) -> "Utility":
        """Return the utility of these states alone, in their order."""
        return Utility(self.acting[:, states], self.ending[states])


class Occupancy(NamedTuple):
    """Expected discounted counts, at one time step or over a whole episode."""

    taken: Doubles
    """(A, S) how often an action is taken in a state."""
    visits: Doubles
    """(S,) how often a state is visited; a terminal state counts on arrival alone."""

    def counts(self, on_actions: bool) -> Doubles:
        """Return (S, A) actions taken, or (S,) visits: what a reward of that shape is
        earned for.
        """
        return self.taken.T if on_actions else self.visits

    @staticmethod
    def counted(flow: Iterable["Occupancy"], on_actions: bool) -> Doubles:
        """Sum the counts over time.

        Raises:
            ValueError: there is no time step.
        """
        total: Doubles | None = None
        for now in flow:
            counts = now.counts(on_actions)
            if total is None:
                # A copy, since the sum must not change the first of them.
                total = counts.copy()
            else:
                total += counts
        if total is None:
            raise ValueError("wanted the occupancy of at least one time step, got none")
        return total

    def earns(self, utility: Utility) -> float:
        """Return the expected utility."""
        by_acting = (self.taken * utility.acting).sum()
        by_ending = self.visits @ utility.ending
        return float(by_acting + by_ending)


class Transitions:
    """The transitions from S states to M states, as one sparse matrix for all actions.

    One matrix product looks one step ahead. Mostly both S and M are all states of a
    world.
    """

    def __init__(
        self, successors: csr_array, n_actions: int, discount: float, ending: Indices
    ) -> None:
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

    def ahead(self, values: Doubles) -> Doubles:
        """Return the (A, S) discounted expectations of (M,) values one step ahead."""
        product = self.successors @ values
        expected: Doubles = product.reshape(self.n_actions, self.n_states)
        if self.discount != 1:
            np.multiply(expected, self.discount, out=expected)
        return expected

    def arrivals(self, taken: Doubles) -> Doubles:
        """Return the (M,) discounted probabilities of each next state, given (A, S)
        actions taken.
        """
        arrived: Doubles = self._predecessors @ taken.ravel()
        if self.discount != 1:
            np.multiply(arrived, self.discount, out=arrived)
        return arrived


class Dynamics(Transitions):
    """The transitions of a whole world.

    A terminal state ends the episode, and nothing is decided there. The discount is the
    probability that an episode goes on after a step. So it weighs decisions like
    rewards, and the formulas for finite episodes hold unchanged.
    """

    def __init__(self, mdp: TabularMDP) -> None:
        self.going: Mask = np.ones(mdp.n_states, dtype=bool)
        if mdp.terminal is not None:
            self.going = ~mdp.terminal

        # A stored zero times a value of -inf would be NaN.
        successors = vstack(mdp.transition, format="csr")
        successors.eliminate_zeros()

        ending = np.flatnonzero(~self.going)
        super().__init__(successors, mdp.n_actions, mdp.discount, ending)
        self.start = mdp.start

    def at_start(self, values: Doubles) -> float:
        """Return the expectation of (S,) values in the first state."""
        # Elsewhere a value may be -inf, and zero times that would be NaN.
        begun = self.start > 0
        expected = self.start[begun] @ values[begun]
        return float(expected)

    def utility(self, reward: Doubles) -> Utility:
        """Read a reward: (S,) is earned in every state visited, (S, A) by acting and
        never in a terminal state.
        """
        if reward.ndim == 2:
            acting = np.ascontiguousarray(reward.T)
            return Utility(acting, np.zeros(self.n_states))
        ending = np.where(self.going, 0.0, reward)
        return Utility(reward[None, :], ending)

    def consequential(self) -> Mask:
        """Return (S,) whether the actions of a state differ in what follows."""
        S = self.n_states
        first = self.successors[:S]
        differing = np.zeros(S, dtype=bool)
        for action in range(1, self.n_actions):
            start = action * S
            other = self.successors[start : start + S]

            # A row of the comparison has entries exactly where the two actions lead
            # elsewhere.
            different = (first != other).tocsr()
            n_different = np.diff(different.indptr)
            differing |= n_different > 0
        return differing & self.going
