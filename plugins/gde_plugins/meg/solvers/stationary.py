"""Episodes that go on until they end, by chance (a discount) or in a terminal state: stationary soft-optimal policies.

The soft value is the fixed point of the recursion in `meg.solvers.finite`. It is found by policy iteration, which
is Newton's method on that equation: evaluate a policy by one sparse linear system, improve it, until nothing changes.

Undiscounted, the soft value can be infinite: where a step pays more than what acting predictably costs, a soft-optimal
policy would never end. Such a rationality predicts nothing, so the accuracy counts as -inf there. At zero it never is.
"""

from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from gde.data.mdp import Floats, Policy, TabularMDP
from gde.errors import GdeError
from gde.numerics.tabular import solve, steps_to
from gde_plugins.meg.solvers.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.solvers.limits import TIE, Limit, compared
from gde_plugins.meg.solvers.protocol import Moments
from gde_plugins.meg.solvers.stationary_fit import Divergent, Evaluation, StationaryFit, moves


class Best(NamedTuple):
    """What is optimal."""

    utility: Utility
    """0 for optimal actions, -inf for others."""
    value: Floats
    """(S,) optimal values; 0 where there is none."""
    size: Floats
    """(S,) what these add up to without the signs of the rewards."""
    gap: float
    """By how much the best action that is not optimal falls short, anywhere; inf if all are optimal."""
    decided: bool
    """Whether all actions that count as optimal are, up to rounding."""


class Stationary:
    """Episodes without horizon; policies do not depend on time. A `Process`.

    Raises:
        ValueError: undiscounted, and from some state that can be reached no terminal state can be.
    """

    horizon = inf

    def __init__(self, mdp: TabularMDP) -> None:
        self._mdp, self.dynamics = mdp, Dynamics(mdp)
        self._last: Floats | None = None
        """The policy that was found last: the next utility is mostly one nearby."""
        if mdp.discount == 1:
            self._set_aside_endless()

    def moments(self, utility: Utility, beta: float) -> Moments:
        try:
            fit = self.fit(utility.scaled(beta))
        except Divergent:
            return Moments(inf, inf, inf)
        mean, variance = fit.moments(utility)
        return Moments(fit.value, mean, variance)

    def limit(self, utility: Utility) -> Limit:
        try:
            best = self._among_best(utility)
        except GdeError:
            return Limit(inf, inf, inf, 0.0)
        divergence = -self.fit(best.utility).value if best.decided else inf
        at_start = self.dynamics.at_start
        return Limit(at_start(best.value), divergence, best.gap, TIE * at_start(best.size))

    def fit(self, utility: Utility) -> StationaryFit:
        """See `Process.fit`.

        Raises:
            Divergent: the soft value is infinite.
        """
        fit = StationaryFit(self.dynamics, utility, self._last)
        self._last = fit.evaluation.policy
        return fit

    def flow_of(self, policy: Policy) -> list[Occupancy]:
        shape, wanted = policy.probabilities.shape, (self.dynamics.n_states, self.dynamics.n_actions)
        if shape != wanted:
            raise ValueError(f"without horizon the policy must be stationary, of shape {wanted}, got {shape}")
        chosen = policy.probabilities.T
        if self.dynamics.discount == 1:
            self._check_ends(moves(self.dynamics, chosen), "under the policy, ")
        return [Evaluation(self.dynamics, chosen).flow()]

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        """See `Process.tabulate`.

        Raises:
            Divergent: there is no such policy: it would never end.
        """
        if np.isinf(beta):
            utility, beta = self._among_best(utility.scaled(np.sign(beta))).utility, 1.0
        chosen = self.fit(utility.scaled(beta)).evaluation.policy.T.copy()
        chosen[chosen.sum(axis=1) == 0] = 1 / self.dynamics.n_actions
        return Policy(probabilities=chosen)

    def _set_aside_endless(self) -> None:
        """States from which nothing ends must not be reached; out of the way, they count as ended."""
        step = moves(self.dynamics, np.ones((self.dynamics.n_actions, self.dynamics.n_states)))
        self._check_ends(step)
        endless = np.isinf(steps_to(step, self.dynamics.ending))
        self.dynamics.going &= ~endless
        self.dynamics.ending = np.flatnonzero(~self.dynamics.going)

    def _among_best(self, utility: Utility) -> Best:
        """Utility 0 for what is optimal and -inf for all else, by value iteration (`gde.numerics.tabular.solve`).

        Raises:
            GdeError: no largest utility is found.
        """
        reward = utility.acting.T if len(utility.acting) > 1 else utility.acting[0] + utility.ending
        found = solve(replace(self._mdp, reward=reward))
        optimal = found.optimal.T & self.dynamics.going
        # The actions are certified but the values are those of a sweep before the last: evaluate exactly.
        evaluation = Evaluation(self.dynamics, optimal / np.maximum(optimal.sum(axis=0), 1))
        paid = Utility(np.abs(utility.acting), np.abs(utility.ending))
        value, size = evaluation.values(utility), evaluation.values(paid)
        shortfall = value - (self.dynamics.ahead(value) + utility.acting)
        tied, worse = compared(shortfall, self.dynamics.ahead(size) + paid.acting + size)
        decided = bool((np.where(optimal, tied, worse) | ~optimal.any(axis=0)).all())
        gap = float(shortfall.min(where=~optimal & optimal.any(axis=0), initial=inf))
        among = Utility(np.where(optimal, 0.0, -inf), np.zeros(self.dynamics.n_states))
        return Best(among, value, size, gap, decided)

    def _check_ends(self, moves: csr_array, where: str = "") -> None:
        """Every state that can be reached from the start by these moves leads to a terminal one."""
        reached = np.isfinite(steps_to(csr_array(moves.T), np.flatnonzero(self.dynamics.start)))
        ending = np.isfinite(steps_to(moves, self.dynamics.ending)) if len(self.dynamics.ending) else ~reached
        if (reached & ~ending).any():
            state = int((reached & ~ending).argmax())
            raise ValueError(
                f"undiscounted and without horizon every episode must end, but {where}no terminal state can be reached"
                f" from state {state}: give a horizon, or the model a discount below 1"
            )
