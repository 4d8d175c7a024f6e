"""What the measures of goal-directedness ask of a decision process, whether its horizon is finite or not."""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple, Protocol

import numpy as np

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.limits import Limit
from gde_plugins.meg.softmax import divergence

MOST_NUMBERS = 2**28
"""An array of more numbers than this (2 GiB) is not made."""


class Moments(NamedTuple):
    """The soft value of the start as a function of rationality beta, with its derivatives."""

    value: float
    mean: float
    """First derivative: the soft policy's expected utility."""
    variance: float
    """Second derivative."""


class Fit(Protocol):
    """The soft-optimal policy for a utility in nats, and how it responds to a change of the utility."""

    @property
    def value(self) -> float:
        """The soft value of the start."""

    @property
    def flow(self) -> Sequence[Occupancy]:
        """What the policy visits and does, time step by time step; a single one if the horizon is infinite."""

    def tangent(self, direction: Utility) -> Sequence[Occupancy]:
        """Derivative of the flow in a direction of the utility. It keeps probability: added to a flow it gives one."""


class Process(Protocol):
    """Soft-optimal behaviour in a model."""

    @property
    def dynamics(self) -> Dynamics:
        """The model."""

    @property
    def horizon(self) -> float:
        """States that count in an episode; inf for all."""

    def moments(self, utility: Utility, beta: float) -> Moments:
        """The soft value of the start at rationality `beta`, and its derivatives by beta."""

    def limit(self, utility: Utility) -> Limit:
        """Soft-optimal behaviour as beta goes to +inf."""

    def fit(self, utility: Utility) -> Fit:
        """The soft-optimal policy for a utility in nats; -inf is avoided at any price."""

    def flow_of(self, policy: Policy) -> Iterable[Occupancy]:
        """What a policy visits and does, like `Fit.flow`.

        Raises:
            ValueError: the policy does not fit the model.
        """

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        """The soft-optimal policy at rationality `beta`, which may be +-inf.

        Raises:
            ValueError: it is too large to tabulate.
        """


class Observed(NamedTuple):
    """What a policy does, as far as the accuracy of predictions depends on it."""

    occupancy: Occupancy
    """Over a whole episode."""
    divergence: float
    """Nats by which its choices depart from random choice, in expectation: no prediction can be more accurate."""
    decisions: float
    """Expected number of decisions that can have consequences for a utility."""


def observe(process: Process, policy: Policy, on_actions: bool) -> Observed:
    """What a policy does; `on_actions` if utilities depend on actions, so that every decision has consequences.

    Raises:
        ValueError: the policy does not fit the model.
    """
    dynamics, last = process.dynamics, process.horizon - (not on_actions)
    matters = dynamics.going if on_actions else dynamics.consequential()
    total = Occupancy(np.zeros((dynamics.n_actions, dynamics.n_states)), np.zeros(dynamics.n_states))
    departs = decisions = 0.0
    for t, now in enumerate(process.flow_of(policy)):
        np.add(total.taken, now.taken, out=total.taken)
        np.add(total.visits, now.visits, out=total.visits)
        departs += divergence(now.taken)
        decisions += float(now.visits @ matters) if t < last else 0.0
    return Observed(total, departs, decisions)


def process_of(mdp: TabularMDP, horizon: int | None) -> Process:
    """Episodes of at most `horizon` states, or for None episodes that go on until they end."""
    if horizon is None:
        from gde_plugins.meg.stationary import Stationary

        return Stationary(mdp)
    from gde_plugins.meg.finite import Finite

    return Finite(mdp, horizon)


def check_size(shape: tuple[int, ...], what: str) -> None:
    """Raise a ValueError if an array of this shape is too large to be held."""
    if prod(shape) > MOST_NUMBERS:
        sizes = " x ".join(f"{n:,}" for n in shape)
        raise ValueError(
            f"{what} has {sizes} = {prod(shape):,} numbers, more than {MOST_NUMBERS:,}: too large to tabulate;"
            " shorten the horizon, or estimate with gde_plugins.meg.from_trajectories"
        )
