"""Evaluating a stationary policy by a sparse linear system, and improving it until it is soft-optimal."""

from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from gde.data.mdp import Floats
from gde_plugins.meg.solvers.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.solvers.softmax import soften

ORDERING = "MMD_AT_PLUS_A"
"""Of the unknowns of a linear system: most steps can be undone, so its pattern is nearly symmetric, and this one leaves
two thirds of the numbers that the default does."""
IMPROVEMENTS = 200
"""Policies evaluated before the soft value is taken to be infinite."""
SETTLED = 1e-13
"""Change of a value that is rounding, relative to the utilities, signs aside, that add up to it."""
INFINITE = 1e12
"""Nats that no soft value reaches that is not infinite."""


class Divergent(ValueError):
    """The soft value is infinite: the soft-optimal policy would never end."""


class Evaluation:
    """What follows from acting by one (A, S) policy for ever."""

    def __init__(self, dynamics: Dynamics, policy: Floats) -> None:
        self._dynamics, self.policy = dynamics, policy
        system = eye_array(dynamics.n_states) - dynamics.discount * moves(dynamics, policy)
        try:
            self._system = splu(csc_array(system), permc_spec=ORDERING)
        except RuntimeError as singular:
            raise Divergent("the policy never ends: give a horizon or a discount below 1") from singular

    def values(self, utility: Utility, surprise: Floats | float = 0.0) -> Floats:
        """(S,) expected utility to come, less (A, S) `surprise` at each action taken; 0 where utility is -inf."""
        gained = np.multiply(
            self.policy, utility.acting - surprise, where=self.policy > 0, out=np.zeros_like(self.policy)
        )
        earned = np.where(self._dynamics.going, gained.sum(axis=0), utility.ending)
        solved: Floats = self._system.solve(np.where(np.isfinite(earned), earned, 0.0))
        return solved

    def flow(self) -> Occupancy:
        """What is visited and done in a whole episode."""
        return self.spread(self._dynamics.start)

    def spread(self, arrivals: Floats) -> Occupancy:
        """What is visited and done after (S,) arrivals from elsewhere."""
        visits: Floats = self._system.solve(arrivals, trans="T")
        return Occupancy((visits * self._dynamics.going) * self.policy, visits)


class StationaryFit:
    """The stationary soft-optimal policy for a utility and how it responds to a change of the utility. A `Fit`.

    Policy iteration begins at the (A, S) policy `near`, where that takes every action that can be taken and no other,
    else at random choice.

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
                self.value, self.evaluation = dynamics.at_start(values), Evaluation(dynamics, policy)
                self.flow = [self.evaluation.flow()]
                return
        raise Divergent("no soft-optimal policy at this rationality ever ends: give a horizon or a discount below 1")

    def moments(self, utility: Utility) -> tuple[float, float]:
        """Expected utility of the policy, and its derivative by rationality."""
        evaluation, dynamics = self.evaluation, self._dynamics
        mean = evaluation.values(utility)
        spread = dynamics.ahead(mean) + utility.acting - mean
        variance = evaluation.values(Utility(spread**2, np.zeros(dynamics.n_states)))
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
        evaluation, dynamics = self.evaluation, self._dynamics
        values = evaluation.values(direction)
        tilt = self.flow[0].taken * (dynamics.ahead(values) + direction.acting - values)
        change = evaluation.spread(dynamics.arrivals(tilt))
        return [Occupancy(change.taken + tilt, change.visits)]


def moves(dynamics: Dynamics, weights: Floats) -> csr_array:
    """(S, S) undiscounted transitions, given (A, S) weights of actions; none from where nothing is decided."""
    S = dynamics.n_states
    blocks = (dynamics.successors[a * S : (a + 1) * S] for a in range(dynamics.n_actions))
    scaled = (diags_array(row * dynamics.going) @ block for row, block in zip(weights, blocks, strict=True))
    summed = csr_array(reduce(add, scaled))
    summed.eliminate_zeros()
    return summed


def _harmless(dynamics: Dynamics, utility: Utility) -> NDArray[np.bool_]:
    """(A, S) actions after which a utility of -inf can surely be avoided."""
    safe = np.ones(dynamics.n_states, dtype=bool)
    while True:
        values = np.where(safe, np.where(dynamics.going, 0.0, utility.ending), -np.inf)
        allowed = np.isfinite(dynamics.ahead(values) + utility.acting) & dynamics.going
        still = np.where(dynamics.going, allowed.any(axis=0), np.isfinite(utility.ending))
        if (still == safe).all():
            return allowed
        safe = still
