"""Soft value iteration over a finite horizon: maximum-causal-entropy policies (MacDermott et al. 2024, Definition 5.2).

Utility is in nats (beta times utility), so that no step divides by beta, and entropy is counted from that of random
choice, which takes ln |A| off every decision and nothing off an episode that is over:
Q_t(a, s) = u(a, s) + E[V_{t+1}(s')], V_t(s) = ln mean_a exp Q_t(a, s), pi_t(a | s) = exp(Q_t - V_t) / |A|.
V_t is the most that any policy has from t on of expected utility less divergence from random choice. It is convex in u.
So utility zero gives the uniform policy and V = 0, with terminal states too: they act as if decisions without effect
went on after them, as in Definition 5.1, where every decision exists. Policies of maximum causal entropy are due to
Ziebart et al. (2010).
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import islice, repeat

import numpy as np

from gde.data.mdp import Floats, Policy, TabularMDP
from gde_plugins.meg.solvers.afterstates import AfterstateFit, Afterstates, TooWide
from gde_plugins.meg.solvers.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.solvers.limits import Limit, backwards, limit
from gde_plugins.meg.solvers.protocol import Fit, Moments, check_horizon, check_size
from gde_plugins.meg.solvers.softmax import SoftStep, soft_step


class Finite:
    """Episodes of at most a given number of states; policies depend on the time step. A `Process`.

    Raises:
        ValueError: the horizon is not a positive integer.
    """

    def __init__(self, mdp: TabularMDP, horizon: int) -> None:
        check_horizon(horizon)
        self.dynamics, self.horizon = Dynamics(mdp), horizon

    @cached_property
    def _afterstates(self) -> Afterstates:
        return Afterstates(self.dynamics)

    def moments(self, utility: Utility, beta: float) -> Moments:
        """In one pass backwards, with two arrays of S * A numbers at a time."""
        dynamics, scaled = self.dynamics, utility.scaled(beta)
        values = mean = variance = np.zeros(dynamics.n_states)
        for _ in range(self.horizon):
            values, policy = soft_step(dynamics, scaled, values)
            mean, spread = _spread(dynamics.ahead(mean), utility, policy)
            variance = np.einsum("as,as->s", policy, dynamics.ahead(variance))
            variance += spread
            mean[dynamics.ending] = utility.ending[dynamics.ending]
            variance[dynamics.ending] = 0.0
            del policy  # before there is the next
        return Moments(dynamics.at_start(values), dynamics.at_start(mean), dynamics.at_start(variance))

    def limit(self, utility: Utility) -> Limit:
        return limit(self.dynamics, utility, self.horizon)

    def flow_of(self, policy: Policy) -> Iterator[Occupancy]:
        shape, wanted = policy.probabilities.shape, (self.dynamics.n_states, self.dynamics.n_actions)
        if shape[-2:] != wanted or len(shape) not in {2, 3} or (len(shape) == 3 and shape[0] < self.horizon):
            least = f"(at least {self.horizon}, {wanted[0]}, {wanted[1]})"
            raise ValueError(f"the policy must have shape {wanted} or {least}, got {shape}")
        if len(shape) == 2:
            return self.flow(repeat(np.ascontiguousarray(policy.probabilities.T), self.horizon))
        return self.flow(np.ascontiguousarray(policy.probabilities[t].T) for t in range(self.horizon))

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        shape = (self.horizon, self.dynamics.n_states, self.dynamics.n_actions)
        check_size(shape, "the policy")
        table: Floats = np.empty(shape)
        for t, policy in enumerate(self.policies(utility, beta), start=1):
            table[-t] = policy.T
        return Policy(probabilities=table)

    def policies(self, utility: Utility, beta: float) -> Iterator[Floats]:
        """The (A, S) soft-optimal policies at rationality `beta`, from the last time step to the first."""
        if np.isinf(beta):
            return (step.policy for step in backwards(self.dynamics, utility.scaled(np.sign(beta)), self.horizon))
        return (step.policy for step in self.soft_steps(utility.scaled(beta)))

    def soft_steps(self, utility: Utility) -> Iterator[SoftStep]:
        """The recursion, from the last time step to the first. A utility of -inf is avoided at any price."""
        values = np.zeros(self.dynamics.n_states)
        for _ in range(self.horizon):
            step = soft_step(self.dynamics, utility, values)
            values = step.values
            yield step

    def fit(self, utility: Utility) -> Fit:
        """See `Process.fit`.

        Raises:
            ValueError: the policy is too large to be held, as it is for a bound.
        """
        check_size((self.horizon, self.dynamics.n_states, self.dynamics.n_actions), "the soft-optimal policy")
        if len(utility.acting) == 1 and self._afterstates.few:
            with suppress(TooWide):
                return AfterstateFit(self._afterstates, utility, self.horizon)
        return FiniteFit(self, utility)

    def flow(self, policies: Iterable[Floats]) -> Iterator[Occupancy]:
        """What is visited and done at each time, given the (A, S) probabilities of a policy at each time."""
        visits = self.dynamics.start
        for policy in policies:
            taken = (visits * self.dynamics.going) * policy
            yield Occupancy(taken, visits)
            visits = self.dynamics.arrivals(taken)


def _spread(ahead: Floats, utility: Utility, policy: Floats) -> tuple[Floats, Floats]:
    """(S,) mean and variance over actions of what is ahead, (A, S), which is overwritten, and what is earned now."""
    ahead += utility.acting
    mean = np.einsum("as,as->s", policy, ahead)
    ahead -= mean
    np.square(ahead, out=ahead)
    return mean, np.einsum("as,as->s", policy, ahead)


class FiniteFit:
    """The soft-optimal policy for a utility and how it responds to a change of the utility. A `Fit`."""

    def __init__(self, process: Finite, utility: Utility) -> None:
        dynamics, policies = process.dynamics, []
        for values, policy in process.soft_steps(utility):
            policies.append(policy)
            self.value = dynamics.at_start(values)
        self._dynamics, self._policies = dynamics, policies[::-1]
        self._visits: Floats = np.empty((process.horizon, dynamics.n_states))
        for kept, now in zip(self._visits, process.flow(self._policies), strict=True):
            kept[:] = now.visits

    @property
    def flow(self) -> Iterator[Occupancy]:
        for visits, policy in zip(self._visits, self._policies, strict=True):
            yield Occupancy((visits * self._dynamics.going) * policy, visits)

    @cached_property
    def deciding(self) -> Floats:
        total = np.zeros_like(self._policies[0])
        for now in islice(self.flow, len(self._policies) - 1):
            total += now.taken
        return total

    def counts(self, on_actions: bool) -> Floats:
        return Occupancy.counted(self.flow, on_actions) if on_actions else self._visits.sum(axis=0)

    def change(self, direction: Utility, on_actions: bool) -> Floats:
        return Occupancy.counted(self.tangent(direction), on_actions)

    def tangent(self, direction: Utility) -> Iterator[Occupancy]:
        dynamics, values, qualities, means = self._dynamics, np.zeros(self._dynamics.n_states), [], []
        for policy in reversed(self._policies):
            quality = dynamics.ahead(values)
            quality += direction.acting
            qualities.append(quality)
            means.append(np.einsum("as,as->s", policy, quality))
            values = means[-1].copy()
            values[dynamics.ending] = direction.ending[dynamics.ending]
        change = np.zeros(dynamics.n_states)
        for policy, visits in zip(self._policies, self._visits, strict=True):
            shift, mean = qualities.pop(), means.pop()
            shift *= visits * dynamics.going
            shift += (change - visits * mean) * dynamics.going
            shift *= policy
            yield Occupancy(shift, change)
            change = dynamics.arrivals(shift)
