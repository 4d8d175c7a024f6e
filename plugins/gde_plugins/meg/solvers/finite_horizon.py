"""Soft value iteration over a finite horizon: maximum-causal-entropy policies
(MacDermott et al. 2024, Definition 5.2).

Utility is in nats (beta times utility), so no step divides by beta. Entropy is counted
from that of uniform choice, which takes ln |A| off every decision and nothing off an
episode that is over:

    Q[t, a, s] = u[a, s] + E[V[t + 1, s']]
    V[t, s] = ln mean_a exp Q[t, a, s]
    pi[t, a, s] = exp(Q[t, a, s] - V[t, s]) / |A|

V[t, s] is the most that any policy has from t on of expected utility less divergence
from uniform choice. It is convex in u. Utility zero gives the uniform policy and V = 0.
So do terminal states: they act as if decisions without effect went on after them
(Definition 5.1). Policies of maximum causal entropy are due to Ziebart et al. (2010).
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import islice, repeat
from math import prod
from numbers import Integral
from typing import NamedTuple

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.solvers.limits import Limit, backwards, limit
from gde_plugins.meg.solvers.softmax import SoftStep, soft_step

MOST_NUMBERS = 2**28
"""Numbers of the largest array that is made (2 GiB)."""


class Moments(NamedTuple):
    """The soft value of the start as a function of rationality beta, with its
    derivatives.
    """

    value: float
    mean: float
    """First derivative: the expected utility of the soft-optimal policy."""
    variance: float
    """Second derivative."""


def check_horizon(horizon: int) -> None:
    """Raise a ValueError unless the horizon is a positive whole number."""
    if not isinstance(horizon, Integral) or horizon < 1:
        raise ValueError(
            f"horizon must be an integer of at least 1 state visited, got {horizon!r}"
        )


class Finite:
    """Episodes of at most `horizon` states; policies depend on the time step.

    Raises:
        ValueError: the horizon is not a positive integer.
    """

    def __init__(self, mdp: TabularMDP, horizon: int) -> None:
        check_horizon(horizon)
        self.dynamics = Dynamics(mdp)
        self.horizon = horizon

    def moments(self, utility: Utility, beta: float) -> Moments:
        """Return the soft value of the start at rationality `beta`, and its derivatives
        by beta; two arrays of S * A numbers are held at a time.
        """
        dynamics = self.dynamics
        ending = dynamics.ending
        scaled = utility.scaled(beta)
        values = np.zeros(dynamics.n_states)
        mean = values
        variance = values
        for _ in range(self.horizon):
            values, policy = soft_step(dynamics, scaled, values)

            # Mean and variance over the actions of the utility to come.
            ahead = dynamics.ahead(mean)
            ahead += utility.acting
            mean = np.einsum("as,as->s", policy, ahead)
            ahead -= mean
            np.square(ahead, out=ahead)
            spread = np.einsum("as,as->s", policy, ahead)

            # The variance to come is that between the actions and the expectation of
            # that after them.
            later = dynamics.ahead(variance)
            variance = np.einsum("as,as->s", policy, later)
            variance += spread
            mean[ending] = utility.ending[ending]
            variance[ending] = 0.0

            # Free the arrays before the next step makes new ones.
            del policy, ahead, later
        return Moments(
            value=dynamics.at_start(values),
            mean=dynamics.at_start(mean),
            variance=dynamics.at_start(variance),
        )

    def limit(self, utility: Utility) -> Limit:
        """Return soft-optimal behaviour as beta goes to +inf."""
        return limit(self.dynamics, utility, self.horizon)

    def flow_of(self, policy: Policy) -> Iterator[Occupancy]:
        """Return the occupancies of a policy, like `FiniteFit.flow`.

        Raises:
            ValueError: the policy does not fit the model.
        """
        table = policy.probabilities
        wanted = (self.dynamics.n_states, self.dynamics.n_actions)
        is_stationary = table.shape == wanted
        is_timed = table.ndim == 3 and table.shape[1:] == wanted
        is_long_enough = len(table) >= self.horizon
        if not is_stationary and not (is_timed and is_long_enough):
            least = f"(at least {self.horizon}, {wanted[0]}, {wanted[1]})"
            raise ValueError(
                f"the policy must have shape {wanted} or {least}, got {table.shape}"
            )

        # Sums over actions read contiguous memory. A table for all times is laid out
        # anew one time step at a time.
        if is_stationary:
            always = np.ascontiguousarray(table.T)
            return self.flow(repeat(always, self.horizon))
        return self.flow(np.ascontiguousarray(table[t].T) for t in range(self.horizon))

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        """Return the soft-optimal policy at rationality `beta`, which may be +-inf.

        Raises:
            ValueError: it is too large to tabulate.
        """
        shape = self._checked_shape("the policy")
        table: Doubles = np.empty(shape)
        for to_go, policy in enumerate(self.policies(utility, beta), start=1):
            table[-to_go] = policy.T
        return Policy(probabilities=table)

    def policies(self, utility: Utility, beta: float) -> Iterator[Doubles]:
        """Yield the (A, S) soft-optimal policies at rationality `beta`, from the last
        time step to the first.
        """
        if np.isinf(beta):
            signed = utility.scaled(np.sign(beta))
            for limit_step in backwards(self.dynamics, signed, self.horizon):
                yield limit_step.policy
        else:
            scaled = utility.scaled(beta)
            for soft in self.soft_steps(scaled):
                yield soft.policy

    def soft_steps(self, utility: Utility) -> Iterator[SoftStep]:
        """Run the recursion from the last time step to the first; a utility of -inf is
        avoided at any price.
        """
        values = np.zeros(self.dynamics.n_states)
        for _ in range(self.horizon):
            step = soft_step(self.dynamics, utility, values)
            values = step.values
            yield step

    def fit(self, utility: Utility) -> "FiniteFit":
        """Find the soft-optimal policy for a utility in nats; -inf is avoided at any
        price.

        Raises:
            ValueError: the policy, which bounds need as a whole, is too large to be
                held.
        """
        self._checked_shape("the soft-optimal policy")
        return FiniteFit(self, utility)

    def _checked_shape(self, what: str) -> tuple[int, int, int]:
        """Return (H, S, A), the shape of policies; raise if they cannot be held."""
        shape = (self.horizon, self.dynamics.n_states, self.dynamics.n_actions)
        if prod(shape) > MOST_NUMBERS:
            sizes = " x ".join(f"{n:,}" for n in shape)
            raise ValueError(
                f"{what} has {sizes} = {prod(shape):,} numbers, more than {MOST_NUMBERS:,}: too large to tabulate;"
                " shorten the horizon, or estimate with gde_plugins.meg.from_trajectories"
            )
        return shape

    def flow(self, policies: Iterable[Doubles]) -> Iterator[Occupancy]:
        """Yield the occupancy at each time, given the (A, S) probabilities of a policy
        at each time.
        """
        visits = self.dynamics.start
        for policy in policies:
            deciding = visits * self.dynamics.going
            taken = deciding * policy
            yield Occupancy(taken, visits)
            visits = self.dynamics.arrivals(taken)


class FiniteFit:
    """The soft-optimal policy for a utility in nats, and its response to a change of
    the utility.
    """

    def __init__(self, process: Finite, utility: Utility) -> None:
        dynamics = process.dynamics
        policies = []
        for values, policy in process.soft_steps(utility):
            policies.append(policy)
            self.value = dynamics.at_start(values)
        policies.reverse()
        self._dynamics = dynamics
        self._policies = policies

        # Of the flow only the visits are kept: with the policies they give the rest,
        # and are smaller by a factor A.
        self._visits: Doubles = np.empty((process.horizon, dynamics.n_states))
        for t, now in enumerate(process.flow(policies)):
            self._visits[t] = now.visits

    @property
    def flow(self) -> Iterator[Occupancy]:
        """The occupancy at each time step."""
        for visits, policy in zip(self._visits, self._policies, strict=True):
            deciding = visits * self._dynamics.going
            yield Occupancy(deciding * policy, visits)

    @cached_property
    def deciding(self) -> Doubles:
        """(A, S) actions taken in a whole episode that have consequences."""
        # The last decision has no consequence.
        last = len(self._policies) - 1
        total = np.zeros_like(self._policies[0])
        for now in islice(self.flow, last):
            total += now.taken
        return total

    def counts(self, on_actions: bool) -> Doubles:
        """Return (S,) visits in a whole episode, or (S, A) actions taken."""
        if on_actions:
            return Occupancy.counted(self.flow, on_actions)
        visits: Doubles = self._visits.sum(axis=0)
        return visits

    def change(self, direction: Utility, on_actions: bool) -> Doubles:
        """Return the derivative of the counts in a direction of the utility."""
        return Occupancy.counted(self.tangent(direction), on_actions)

    def tangent(self, direction: Utility) -> Iterator[Occupancy]:
        """Return the derivative of the flow in a direction of the utility. It sums to
        zero at each time step.
        """
        dynamics = self._dynamics
        ending = dynamics.ending

        # Backwards: how the values of actions and states change.
        values = np.zeros(dynamics.n_states)
        qualities = []
        means = []
        for policy in reversed(self._policies):
            quality = dynamics.ahead(values)
            quality += direction.acting
            mean = np.einsum("as,as->s", policy, quality)
            qualities.append(quality)
            means.append(mean)
            values = mean.copy()
            values[ending] = direction.ending[ending]

        # Forwards: how the occupancies change with them. Both lists end with the first
        # time step.
        change = np.zeros(dynamics.n_states)
        for policy, visits in zip(self._policies, self._visits, strict=True):
            shift = qualities.pop()
            mean = means.pop()

            # In place, since these are the largest arrays of all: policy * (visits *
            # (quality - mean) + change).
            shift *= visits * dynamics.going
            arrived = change - visits * mean
            shift += arrived * dynamics.going
            shift *= policy
            yield Occupancy(shift, change)
            change = dynamics.arrivals(shift)
