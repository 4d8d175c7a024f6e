"""Episodes that go on until they end, by chance (a discount) or in a terminal state: stationary policies.

The soft value is the fixed point of the recursion in `finite_horizon`. Policy iteration, which is Newton's method on
that equation, finds it: evaluate a policy by one sparse linear system, improve it, until nothing changes.

Undiscounted, the soft value can be infinite: where a step pays more than acting predictably costs, a soft-optimal
policy would never end. Such a rationality predicts nothing, so its accuracy is -inf. At rationality zero it is finite.
"""

from dataclasses import replace
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from gde.data.mdp import Floats, Policy, TabularMDP
from gde.errors import GdeError
from gde.numerics.tabular import solve, steps_to
from gde_plugins.meg.solvers.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.solvers.limits import TIE, Limit, compare
from gde_plugins.meg.solvers.protocol import Moments
from gde_plugins.meg.solvers.softmax import soften

ORDERING = "MMD_AT_PLUS_A"
"""Order of the unknowns in a linear system. Most steps can be undone, so the pattern is nearly symmetric, and this
order leaves two thirds of the numbers that the default does."""
IMPROVEMENTS = 200
"""Policies evaluated before the soft value is taken to be infinite."""
SETTLED = 1e-13
"""Change of a value that is rounding, relative to the sum of the absolute utilities that make it up."""
INFINITE = 1e12
"""Nats above which a soft value is taken to be infinite."""


class Divergent(ValueError):
    """The soft value is infinite: the soft-optimal policy would never end."""


class Stationary:
    """Episodes without horizon; policies do not depend on time. A `Process`.

    Raises:
        ValueError: undiscounted, and from some state that can be reached no terminal state can be.
    """

    horizon = inf

    def __init__(self, mdp: TabularMDP) -> None:
        self._mdp = mdp
        self.dynamics = Dynamics(mdp)
        # Policy iteration starts from the last policy, since the next utility is mostly one nearby.
        self._last: Floats | None = None
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

    def fit(self, utility: Utility) -> "StationaryFit":
        """See `Process.fit`.

        Raises:
            Divergent: the soft value is infinite.
        """
        fit = StationaryFit(self.dynamics, utility, self._last)
        self._last = fit.evaluation.policy
        return fit

    def flow_of(self, policy: Policy) -> list[Occupancy]:
        shape = policy.probabilities.shape
        wanted = (self.dynamics.n_states, self.dynamics.n_actions)
        if shape != wanted:
            raise ValueError(f"without horizon the policy must be stationary, of shape {wanted}, got {shape}")
        chosen = policy.probabilities.T
        if self.dynamics.discount == 1:
            self._check_ends(moves(self.dynamics, chosen), "under the policy, ")
        return [Evaluation(self.dynamics, chosen).flow()]

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        """See `Process.tabulate`.

        Raises:
            Divergent: there is no such policy, as it would never end.
        """
        if np.isinf(beta):
            utility = self._among_best(utility.scaled(np.sign(beta))).utility
            beta = 1.0
        chosen = self.fit(utility.scaled(beta)).evaluation.policy.T.copy()
        chosen[chosen.sum(axis=1) == 0] = 1 / self.dynamics.n_actions
        return Policy(probabilities=chosen)

    def _set_aside_endless(self) -> None:
        """Treat states from which nothing ends, and which must not be reached, as ended."""
        step = moves(self.dynamics, np.ones((self.dynamics.n_actions, self.dynamics.n_states)))
        self._check_ends(step)
        endless = np.isinf(steps_to(step, self.dynamics.ending))
        self.dynamics.going &= ~endless
        self.dynamics.ending = np.flatnonzero(~self.dynamics.going)

    def _among_best(self, utility: Utility) -> "Best":
        """Find the optimal actions by value iteration (`gde.numerics.tabular.solve`).

        Raises:
            GdeError: no largest utility is found.
        """
        reward = utility.acting.T if len(utility.acting) > 1 else utility.acting[0] + utility.ending
        found = solve(replace(self._mdp, reward=reward))
        optimal = found.optimal.T & self.dynamics.going

        # The actions are certified, but the values are those of a sweep before the last: evaluate exactly.
        evaluation = Evaluation(self.dynamics, optimal / np.maximum(optimal.sum(axis=0), 1))
        paid = Utility(np.abs(utility.acting), np.abs(utility.ending))
        value = evaluation.values(utility)
        size = evaluation.values(paid)

        shortfall = value - (self.dynamics.ahead(value) + utility.acting)
        tied, worse = compare(shortfall, self.dynamics.ahead(size) + paid.acting + size)
        decided = bool((np.where(optimal, tied, worse) | ~optimal.any(axis=0)).all())
        gap = float(shortfall.min(where=~optimal & optimal.any(axis=0), initial=inf))
        among = Utility(np.where(optimal, 0.0, -inf), np.zeros(self.dynamics.n_states))
        return Best(among, value, size, gap, decided)

    def _check_ends(self, moves: csr_array, where: str = "") -> None:
        """Raise a ValueError unless every state that these moves reach from the start leads to a terminal one."""
        reached = np.isfinite(steps_to(csr_array(moves.T), np.flatnonzero(self.dynamics.start)))
        ending = ~reached
        if len(self.dynamics.ending):
            ending = np.isfinite(steps_to(moves, self.dynamics.ending))
        if (reached & ~ending).any():
            state = int((reached & ~ending).argmax())
            raise ValueError(
                f"undiscounted and without horizon every episode must end, but {where}no terminal state can be reached"
                f" from state {state}: give a horizon, or the model a discount below 1"
            )


class Best(NamedTuple):
    """The optimal actions and their values."""

    utility: Utility
    """0 for optimal actions, -inf for others."""
    value: Floats
    """(S,) optimal values; 0 where there is none."""
    size: Floats
    """(S,) sums of the absolute rewards that make up the optimal values."""
    gap: float
    """By how much the best action that is not optimal falls short, anywhere; inf if all are optimal."""
    decided: bool
    """Whether the actions that count as optimal are equal up to rounding."""


class Evaluation:
    """Values and occupancies of acting by one (A, S) policy for ever."""

    def __init__(self, dynamics: Dynamics, policy: Floats) -> None:
        self._dynamics = dynamics
        self.policy = policy
        system = eye_array(dynamics.n_states) - dynamics.discount * moves(dynamics, policy)
        try:
            self._system = splu(csc_array(system), permc_spec=ORDERING)
        except RuntimeError as singular:
            raise Divergent("the policy never ends: give a horizon or a discount below 1") from singular

    def values(self, utility: Utility, surprise: Floats | float = 0.0) -> Floats:
        """Return (S,) expected utility to come, less (A, S) `surprise` at each action taken; 0 where it is -inf."""
        gained = np.multiply(
            self.policy, utility.acting - surprise, where=self.policy > 0, out=np.zeros_like(self.policy)
        )
        earned = np.where(self._dynamics.going, gained.sum(axis=0), utility.ending)
        solved: Floats = self._system.solve(np.where(np.isfinite(earned), earned, 0.0))
        return solved

    def flow(self) -> Occupancy:
        """Return the occupancy of a whole episode."""
        return self.spread(self._dynamics.start)

    def spread(self, arrivals: Floats) -> Occupancy:
        """Return the occupancy that follows (S,) arrivals from elsewhere."""
        visits: Floats = self._system.solve(arrivals, trans="T")
        return Occupancy((visits * self._dynamics.going) * self.policy, visits)


class StationaryFit:
    """The stationary soft-optimal policy for a utility and its response to a change of the utility. A `Fit`.

    Policy iteration begins at the (A, S) policy `near` if that takes exactly the actions that can be taken, else at
    uniform choice.

    Raises:
        Divergent: the soft value is infinite.
    """

    def __init__(self, dynamics: Dynamics, utility: Utility, near: Floats | None = None) -> None:
        self._dynamics = dynamics
        allowed = _harmless(dynamics, utility)
        deciding = allowed.any(axis=0)
        hopeless = np.where(dynamics.going, ~deciding, np.isneginf(utility.ending))
        policy = allowed / np.maximum(allowed.sum(axis=0), 1)
        if near is not None and ((near > 0) == allowed).all():
            policy = near

        paid = Utility(np.abs(utility.acting), np.abs(utility.ending))
        for _ in range(IMPROVEMENTS):
            evaluation = Evaluation(dynamics, policy)
            surprise = np.log(policy * dynamics.n_actions, where=policy > 0, out=np.zeros_like(policy))
            values = evaluation.values(utility, surprise)
            if not values.max() < INFINITE:
                break
            values[hopeless] = -np.inf

            better, policy = soften(dynamics.ahead(values) + utility.acting)
            policy[:, ~deciding] = 0.0
            change = np.abs(np.subtract(better, values, where=deciding, out=np.zeros_like(values)))
            if (change <= SETTLED * np.maximum(1.0, evaluation.values(paid))).all():
                # Where a value is as good as exact, its policy is off by the square root of that: one more step.
                self.value = dynamics.at_start(values)
                self.evaluation = Evaluation(dynamics, policy)
                self.flow = [self.evaluation.flow()]
                return
        raise Divergent("no soft-optimal policy at this rationality ever ends: give a horizon or a discount below 1")

    def moments(self, utility: Utility) -> tuple[float, float]:
        """Return the expected utility of the policy, and its derivative by rationality."""
        dynamics = self._dynamics
        mean = self.evaluation.values(utility)
        spread = dynamics.ahead(mean) + utility.acting - mean
        variance = self.evaluation.values(Utility(spread**2, np.zeros(dynamics.n_states)))
        return dynamics.at_start(mean), dynamics.at_start(variance)

    @property
    def deciding(self) -> Floats:
        return self.flow[0].taken

    def counts(self, on_actions: bool) -> Floats:
        return self.flow[0].counts(on_actions)

    def change(self, direction: Utility, on_actions: bool) -> Floats:
        return self.tangent(direction)[0].counts(on_actions)

    def tangent(self, direction: Utility) -> list[Occupancy]:
        """See `Fit.tangent`."""
        dynamics = self._dynamics
        values = self.evaluation.values(direction)
        tilt = self.flow[0].taken * (dynamics.ahead(values) + direction.acting - values)
        change = self.evaluation.spread(dynamics.arrivals(tilt))
        return [Occupancy(change.taken + tilt, change.visits)]


def moves(dynamics: Dynamics, weights: Floats) -> csr_array:
    """Return (S, S) undiscounted transitions, given (A, S) weights of actions; none from where nothing is decided."""
    S = dynamics.n_states
    total = csr_array((S, S))
    for action, row in enumerate(weights):
        block = dynamics.successors[action * S : (action + 1) * S]
        total = total + diags_array(row * dynamics.going) @ block
    total = csr_array(total)
    total.eliminate_zeros()
    return total


def _harmless(dynamics: Dynamics, utility: Utility) -> NDArray[np.bool_]:
    """Return (A, S) whether a utility of -inf can surely be avoided after an action."""
    safe = np.ones(dynamics.n_states, dtype=bool)
    while True:
        values = np.where(safe, np.where(dynamics.going, 0.0, utility.ending), -np.inf)
        allowed = np.isfinite(dynamics.ahead(values) + utility.acting) & dynamics.going
        still = np.where(dynamics.going, allowed.any(axis=0), np.isfinite(utility.ending))
        if (still == safe).all():
            return allowed
        safe = still
