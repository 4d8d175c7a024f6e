"""What of a world an episode can come to: nothing else bears on goal-directedness, and a long world is mostly else."""

from dataclasses import replace
from numbers import Integral
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gde.data.mdp import Floats, Policy, TabularMDP
from gde_plugins.meg.solvers.dynamics import Indices

ROUNDING = 1e-9
"""Probability that is as good as none."""


class Reach(NamedTuple):
    """The states that can be visited, as a world of their own."""

    mdp: TabularMDP
    policy: Policy
    states: Indices
    """(M,) their numbers in the whole world, in rising order."""
    n_states: int
    """Of the whole world."""

    @classmethod
    def of(cls, mdp: TabularMDP, policy: Policy, horizon: int | None) -> Self:
        """What can be reached within a horizon, by any actions; all, without one.

        Where the last step of an episode would leave it, the step stays: nobody is there any more to see it.
        """
        n_states = mdp.n_states if isinstance(mdp, TabularMDP) else 0
        everything = cls(mdp, policy, np.arange(n_states), n_states)
        if not isinstance(horizon, Integral) or not isinstance(policy, Policy):
            return everything  # what does not fit is refused by the process
        if not n_states or policy.probabilities.shape[-2] != n_states:
            return everything
        states = np.flatnonzero(_reached(mdp, int(horizon)))
        if len(states) == mdp.n_states:
            return everything
        part = replace(
            mdp,
            transition=tuple(_within(matrix, states) for matrix in mdp.transition),
            start=mdp.start[states],
            reward=mdp.reward[states],
            terminal=None if mdp.terminal is None else mdp.terminal[states],
            labels={},
        )
        return cls(part, Policy(probabilities=policy.probabilities[..., states, :]), states, mdp.n_states)

    def whole(self, values: Floats, elsewhere: float) -> Floats:
        """(S, ...) of the whole world, given (M, ...) of these states."""
        if len(self.states) == self.n_states:
            return values
        found = np.full((self.n_states, *values.shape[1:]), elsewhere)
        found[self.states] = values
        return found


def _reached(mdp: TabularMDP, horizon: int) -> NDArray[np.bool_]:
    """(S,) whether a state can be among the first `horizon` of an episode."""
    reached, steps = mdp.start > 0, 1
    going = np.ones(mdp.n_states, dtype=bool) if mdp.terminal is None else ~mdp.terminal
    edge = np.flatnonzero(reached & going)
    while len(edge) and steps < horizon and not reached.all():
        after = np.zeros(mdp.n_states, dtype=bool)
        for matrix in mdp.transition:
            rows = matrix[edge]
            after[rows.indices[rows.data > 0]] = True
        edge, steps = np.flatnonzero(after & going & ~reached), steps + 1
        reached |= after
    return reached


def _within(matrix: csr_array, states: Indices) -> csr_array:
    kept = csr_array(matrix)[states][:, states]
    left = 1 - np.asarray(kept.sum(axis=1)).ravel()
    return csr_array(kept + diags_array(np.where(left > ROUNDING, left, 0.0)))
