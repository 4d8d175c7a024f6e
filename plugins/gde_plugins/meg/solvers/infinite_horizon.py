"""Episodes that go on until they end, by chance (a discount) or in a terminal state:
stationary policies.

The soft value is the fixed point of the recursion in `finite_horizon`. Policy
iteration, which is Newton's method on that equation, finds it: evaluate a policy by one
sparse linear system, improve it, until nothing changes.

Undiscounted, the soft value can be infinite: where a step pays more than acting
predictably costs, a soft-optimal policy would never end. Such a rationality predicts
nothing, so its accuracy is -inf. At rationality zero it is finite.
"""

from math import inf
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import Policy, TabularMDP
from gde.numerics.tabular import steps_to
from gde_plugins.meg.solvers.dynamics import Dynamics, Mask, Occupancy, Utility
from gde_plugins.meg.solvers.finite_horizon import Moments
from gde_plugins.meg.solvers.limits import NO_LIMIT, TIE, Limit, compare
from gde_plugins.meg.solvers.softmax import soften

ORDERING = "MMD_AT_PLUS_A"
"""Order of the unknowns in a linear system. Most steps can be undone, so the pattern is
nearly symmetric, and this order leaves two thirds of the numbers that the default
does.
"""
IMPROVEMENTS = 200
"""Policies evaluated before the soft value is taken to be infinite."""
SETTLED = 1e-13
"""Change of a value that is rounding, relative to the sum of the absolute utilities
that make it up.
"""
NEAR = 1e-9
"""Nats that improving a policy for ever would gain, below which one step is enough: what
is left after it is of the order of their square.
"""
INFINITE = 1e12
"""Nats above which a soft value is taken to be infinite."""
FAINT = 1 / INFINITE
"""Probability of a step that counts as none: waiting for it takes too long."""
LEAK = 1e-14
"""Added to the diagonal of what is factored, to keep the pivots of the longest episodes
above zero. A step of refinement takes its effect away.
"""


NEVER_ENDS = "a policy never ends: give a horizon, or the model a discount below 1"


class Divergent(ValueError):
    """The soft value is infinite: the soft-optimal policy would never end."""


class Stationary:
    """Episodes without horizon; policies do not depend on time. Its methods are
    those of `Finite`.

    Raises:
        ValueError: undiscounted, and from some state that can be reached no terminal
            state can be.
    """

    horizon = inf

    def __init__(self, mdp: TabularMDP, states: Indices | None = None) -> None:
        """Take the model; `states` (S,) are the numbers that messages give its states."""
        self._numbers = np.arange(mdp.n_states) if states is None else states
        self.dynamics = Dynamics(mdp)
        # Policy iteration starts from the last policy, since the next utility is mostly
        # one nearby.
        self._last: Doubles | None = None
        if mdp.discount == 1:
            self._set_aside_endless()

    def moments(self, utility: Utility, beta: float) -> Moments:
        scaled = utility.scaled(beta)
        try:
            fit = self.fit(scaled)
        except Divergent:
            return Moments(inf, inf, inf)
        mean, variance = fit.moments(utility)
        return Moments(fit.value, mean, variance)

    def limit(self, utility: Utility) -> Limit:
        # Where optimal policies need not end, as waiting is free, there is no limit.
        divergence = inf
        try:
            best = self._among_best(utility)
            # The limit policy is the soft-optimal one for utility zero among the
            # optimal actions.
            if best.decided:
                divergence = -self.fit(best.utility).value
        except Divergent:
            return NO_LIMIT
        at_start = self.dynamics.at_start
        return Limit(
            utility=at_start(best.value),
            divergence=divergence,
            gap=best.gap,
            tolerance=TIE * at_start(best.size),
        )

    def fit(self, utility: Utility) -> "StationaryFit":
        """See `Finite.fit`.

        Raises:
            Divergent: the soft value is infinite.
        """
        fit = StationaryFit(self.dynamics, utility, self._last)
        self._last = fit.evaluation.policy
        return fit

    def flow_of(self, policy: Policy) -> list[Occupancy]:
        dynamics = self.dynamics
        shape = policy.probabilities.shape
        wanted = (dynamics.n_states, dynamics.n_actions)
        if shape != wanted:
            raise ValueError(
                f"without horizon the policy must be stationary, of shape {wanted}, got {shape}"
            )

        chosen = policy.probabilities.T
        if dynamics.discount == 1:
            # Where the policy never gets, it need not end.
            step = moves(dynamics, chosen)
            chosen = chosen * self._checked(step, "under the policy, ")
        whole = Evaluation(dynamics, chosen).flow()
        return [whole]

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        """See `Finite.tabulate`.

        Raises:
            Divergent: there is no such policy, as it would never end.
        """
        if np.isinf(beta):
            signed = utility.scaled(np.sign(beta))
            utility = self._among_best(signed).utility
            beta = 1.0
        fit = self.fit(utility.scaled(beta))
        chosen = fit.evaluation.policy.T.copy()

        # Where nothing is decided, a policy still has to be one.
        is_empty = chosen.sum(axis=1) == 0
        chosen[is_empty] = 1 / self.dynamics.n_actions
        return Policy(probabilities=chosen)

    def _set_aside_endless(self) -> None:
        """Treat states from which nothing ends, and which must not be reached, as
        ended.
        """
        dynamics = self.dynamics
        any_action = np.ones((dynamics.n_actions, dynamics.n_states))
        step = moves(dynamics, any_action)
        self._checked(step)
        dynamics.going &= ~endless(step, dynamics.going)
        dynamics.ending = np.flatnonzero(~dynamics.going)

    def _among_best(self, utility: Utility) -> "Best":
        """Find the optimal actions by policy iteration.

        Raises:
            Divergent: no largest utility is found.
        """
        dynamics = self.dynamics
        actions = np.arange(dynamics.n_actions)[:, None]
        policy = np.tile(dynamics.going / dynamics.n_actions, (len(actions), 1))
        paid = utility.absolute()
        for _ in range(IMPROVEMENTS):
            evaluation = Evaluation(dynamics, policy)
            value = evaluation.values(utility)
            size = evaluation.values(paid)
            quality = dynamics.ahead(value) + utility.acting
            shortfall = np.where(dynamics.going, value - quality, 0.0)
            sizes = dynamics.ahead(size) + paid.acting + size

            # Only what is surely better is changed: what is as good need not end.
            improved = (-shortfall > TIE * sizes).any(axis=0)
            if not improved.any():
                break
            greedy = actions == quality.argmax(axis=0)
            policy = np.where(improved, greedy, policy)
        else:
            raise Divergent(NEVER_ENDS)

        tied, worse = compare(shortfall, sizes)
        return Best(
            utility=Utility(np.where(worse, -inf, 0.0), np.zeros(dynamics.n_states)),
            value=value,
            size=size,
            gap=float(shortfall.min(where=worse, initial=inf)),
            decided=bool((tied | worse).all()),
        )

    def _checked(self, step: csr_array, where: str = "") -> Mask:
        """Return the (S,) states that these moves reach from the start.

        Raises:
            ValueError: from one of them no terminal state can be reached.
        """
        # Steps to the nearest start on the reversed graph are steps from there.
        starts = np.flatnonzero(self.dynamics.start)
        is_reached = np.isfinite(steps_to(csr_array(step.T), starts))
        is_stuck = is_reached & endless(step, self.dynamics.going)
        if is_stuck.any():
            state = self._numbers[is_stuck.argmax()]
            raise ValueError(
                f"undiscounted and without horizon every episode must end, but {where}no terminal state can be reached"
                f" from state {state}: give a horizon, or the model a discount below 1"
            )
        return is_reached


class Best(NamedTuple):
    """The optimal actions and their values."""

    utility: Utility
    """0 for optimal actions, -inf for others."""
    value: Doubles
    """(S,) optimal values; 0 where there is none."""
    size: Doubles
    """(S,) sums of the absolute rewards that make up the optimal values."""
    gap: float
    """By how much the best action that is not optimal falls short, anywhere; inf if all
    are optimal.
    """
    decided: bool
    """Whether the actions that count as optimal are equal up to rounding."""


class Evaluation:
    """Values and occupancies of acting by one (A, S) policy for ever."""

    def __init__(self, dynamics: Dynamics, policy: Doubles) -> None:
        self._dynamics = dynamics
        self.policy = policy
        step = moves(dynamics, policy)
        # Tested before the system is factored, as SuperLU does not survive a singular one.
        goes_on = (policy > 0).any(axis=0) & dynamics.going
        self._may_last = dynamics.discount > 1 - FAINT
        if self._may_last and endless(step, goes_on).any():
            raise Divergent(NEVER_ENDS)
        identity = eye_array(dynamics.n_states, format="csc")
        self._system = csc_array(identity - dynamics.discount * step)
        self._factors = splu(
            self._system + LEAK * self._may_last * identity,
            permc_spec=ORDERING,
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def values(self, utility: Utility, surprise: Doubles | float = 0.0) -> Doubles:
        """Return (S,) expected utility to come, less (A, S) `surprise` at each action
        taken; 0 where it is -inf.
        """
        # An action that is never taken may have utility -inf, and zero times that would
        # be NaN.
        gained = np.zeros_like(self.policy)
        net = utility.acting - surprise
        np.multiply(self.policy, net, where=self.policy > 0, out=gained)

        earned = np.where(self._dynamics.going, gained.sum(axis=0), utility.ending)
        finite = np.where(np.isfinite(earned), earned, 0.0)
        solved: Doubles = self._factors.solve(finite)
        if self._may_last:
            solved += self._factors.solve(finite - self._system @ solved)
        return solved

    def soft_values(self, utility: Utility) -> Doubles:
        """Return (S,) expected utility to come, less divergence from uniform choice."""
        surprise = np.zeros_like(self.policy)
        n_actions = self._dynamics.n_actions
        np.log(self.policy * n_actions, where=self.policy > 0, out=surprise)
        return self.values(utility, surprise)

    def flow(self) -> Occupancy:
        """Return the occupancy of a whole episode."""
        return self.spread(self._dynamics.start)

    def spread(self, arrivals: Doubles) -> Occupancy:
        """Return the occupancy that follows (S,) arrivals from elsewhere."""
        visits: Doubles = self._factors.solve(arrivals, trans="T")
        if self._may_last:
            left = arrivals - visits @ self._system
            visits += self._factors.solve(left, trans="T")
        deciding = visits * self._dynamics.going
        return Occupancy(deciding * self.policy, visits)


class StationaryFit:
    """The stationary soft-optimal policy for a utility and its response to a change of
    the utility. Its methods are those of `FiniteFit`.

    Policy iteration begins at the (A, S) policy `near` if that takes exactly the
    actions that can be taken, else at uniform choice.

    Raises:
        Divergent: the soft value is infinite.
    """

    def __init__(
        self, dynamics: Dynamics, utility: Utility, near: Doubles | None = None
    ) -> None:
        self._dynamics = dynamics
        allowed = _harmless(dynamics, utility)
        deciding = allowed.any(axis=0)
        hopeless = np.where(dynamics.going, ~deciding, np.isneginf(utility.ending))

        policy = allowed / np.maximum(allowed.sum(axis=0), 1)
        if near is not None and ((near > 0) == allowed).all():
            policy = near

        paid = utility.absolute()
        for _ in range(IMPROVEMENTS):
            evaluation = Evaluation(dynamics, policy)
            values = evaluation.soft_values(utility)

            # Written so that a NaN ends the search too.
            if not values.max() < INFINITE:
                break
            values[hopeless] = -np.inf

            better, policy = soften(dynamics.ahead(values) + utility.acting)
            policy[:, ~deciding] = 0.0
            change = np.zeros_like(values)
            np.subtract(better, values, where=deciding, out=change)

            rounding = SETTLED * np.maximum(1.0, evaluation.values(paid))
            gain = evaluation.values(Utility(change[None], np.zeros_like(change)))
            if gain.max() <= NEAR or (np.abs(change) <= rounding).all():
                # A policy is off by the square root of what its value is: one more
                # step.
                self.evaluation = Evaluation(dynamics, policy)
                values = self.evaluation.soft_values(utility)
                values[hopeless] = -np.inf
                self.value = dynamics.at_start(values)
                self.flow = [self.evaluation.flow()]
                return
        raise Divergent(NEVER_ENDS)

    def moments(self, utility: Utility) -> tuple[float, float]:
        """Return the expected utility of the policy, and its derivative by
        rationality.
        """
        dynamics = self._dynamics
        mean = self.evaluation.values(utility)

        # The derivative is the variance that choices cause: each decision adds that
        # between its actions.
        spread = dynamics.ahead(mean) + utility.acting - mean
        squared = Utility(spread**2, np.zeros(dynamics.n_states))
        variance = self.evaluation.values(squared)
        return dynamics.at_start(mean), dynamics.at_start(variance)

    @property
    def deciding(self) -> Doubles:
        return self.flow[0].taken

    def counts(self, on_actions: bool) -> Doubles:
        return self.flow[0].counts(on_actions)

    def change(self, direction: Utility, on_actions: bool) -> Doubles:
        whole = self.tangent(direction)[0]
        return whole.counts(on_actions)

    def tangent(self, direction: Utility) -> list[Occupancy]:
        """See `FiniteFit.tangent`."""
        dynamics = self._dynamics
        values = self.evaluation.values(direction)

        # An action gains by as much as it becomes better than the average of its state.
        advantage = dynamics.ahead(values) + direction.acting - values
        tilt = self.flow[0].taken * advantage
        change = self.evaluation.spread(dynamics.arrivals(tilt))
        whole = Occupancy(change.taken + tilt, change.visits)
        return [whole]


def endless(step: csr_array, goes_on: Mask) -> Mask:
    """Return the (S,) states from which (S, S) moves never lead to one of rest.

    Args:
        step: weights of the moves; what is below `FAINT` counts as none.
        goes_on: (S,) the states that are not of rest.
    """
    rest = np.flatnonzero(~goes_on)
    if not rest.size:
        return goes_on
    likely = step.copy()
    likely.data[likely.data < FAINT] = 0
    likely.eliminate_zeros()
    return np.isinf(steps_to(likely, rest))


def moves(dynamics: Dynamics, weights: Doubles) -> csr_array:
    """Return (S, S) undiscounted transitions, given (A, S) weights of actions; none
    from where nothing is decided.
    """
    S = dynamics.n_states
    total = csr_array((S, S))
    for action, row in enumerate(weights):
        first = action * S
        block = dynamics.successors[first : first + S]
        chosen = diags_array(row * dynamics.going)
        total = total + chosen @ block
    total = csr_array(total)

    # A stored zero would count as a way from state to state.
    total.eliminate_zeros()
    return total


def _harmless(dynamics: Dynamics, utility: Utility) -> Mask:
    """Return (A, S) whether a utility of -inf can surely be avoided after an action."""
    going = dynamics.going
    at_end = np.where(going, 0.0, utility.ending)
    is_fine_end = np.isfinite(utility.ending)

    # An action is unsafe if it may lead to an unsafe state, and a state if all of its
    # actions are: to a fixed point.
    safe = np.ones(dynamics.n_states, dtype=bool)
    while True:
        values = np.where(safe, at_end, -np.inf)
        quality = dynamics.ahead(values) + utility.acting
        allowed = np.isfinite(quality) & going
        still = np.where(going, allowed.any(axis=0), is_fine_end)
        if (still == safe).all():
            return allowed
        safe = still
