"""Classes of utilities that are linear in their weights, so that MEG is a concave
maximisation.
"""

from copy import copy

import numpy as np

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import TabularMDP
from gde_plugins.meg.solvers.dynamics import Mask, Occupancy


class Table:
    """Any utility of states, or of states and actions: one of K weights for each that
    the measured policy ever visits.

    The others have utility -inf. That loses nothing: the derivative of the accuracy
    there is minus the occupancy of the soft-optimal policy, so the accuracy never falls
    as the utility falls.
    """

    def __init__(self, seen: Occupancy, on_actions: bool) -> None:
        counts = seen.counts(on_actions)
        self.on_actions = on_actions
        self._visited = counts > 0
        self.size = int(np.count_nonzero(self._visited))

        # (S,) which states have a weight of their own, their utility, as the
        # preconditioner needs; None if weights are of something else.
        self.where: Mask | None = None
        if not on_actions:
            self.where = self._visited

    def utility(self, weights: Doubles) -> Doubles:
        """Return the utility, (S,) or (S, A)."""
        return self._spread(weights, -np.inf)

    def direction(self, weights: Doubles) -> Doubles:
        """Return the finite change of the utility for a change of weights."""
        return self._spread(weights, 0.0)

    def moments(self, counts: Doubles) -> Doubles:
        """Return the (K,) derivative of expected utility by the weights, given (S,)
        visits or (S, A) actions.
        """
        return counts[self._visited]

    squares = moments

    def _spread(self, weights: Doubles, elsewhere: float) -> Doubles:
        table = np.full(self._visited.shape, elsewhere)
        table[self._visited] = weights
        return table


class Features:
    """Weighted sums of features of states, (S, K), or of states and actions, (S, A, K).
    Its methods are those of `Table`.

    Raises:
        ValueError: the features do not fit the model or are not finite.
    """

    where: Mask | None = None

    def __init__(self, features: Doubles, mdp: TabularMDP) -> None:
        *described, n_features = features.shape
        of_states = [mdp.n_states]
        of_actions = [mdp.n_states, mdp.n_actions]
        if described not in (of_states, of_actions) or n_features == 0:
            wanted = f"({mdp.n_states}, K) or ({mdp.n_states}, {mdp.n_actions}, K)"
            raise ValueError(f"features must have shape {wanted}, got {features.shape}")
        if not np.isfinite(features).all():
            raise ValueError("features must be finite, got NaN or infinity")
        self.size = n_features
        self.on_actions = described == of_actions
        self._features = features

    def at(self, states: Indices) -> "Features":
        """Return the features of these states alone."""
        part = copy(self)
        part._features = self._features[states]
        return part

    def utility(self, weights: Doubles) -> Doubles:
        summed: Doubles = self._features @ weights
        return summed

    direction = utility

    # The features come last, so all axes of the counts are summed over.
    def moments(self, counts: Doubles) -> Doubles:
        return np.tensordot(counts, self._features, axes=counts.ndim)

    def squares(self, counts: Doubles) -> Doubles:
        """Return the moments of squared features, about how much the moments vary
        between episodes.
        """
        squared = self._features**2
        return np.tensordot(counts, squared, axes=counts.ndim)


Family = Table | Features
