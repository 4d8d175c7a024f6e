"""The interface of a decision process, with a finite horizon or without."""

from collections.abc import Iterable
from math import prod
from numbers import Integral, Real
from typing import NamedTuple, Protocol

from gde.data.mdp import Floats, Policy
from gde_plugins.meg.solvers.dynamics import Dynamics, Occupancy, Utility
from gde_plugins.meg.solvers.limits import Limit

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


class Fit(Protocol):
    """The soft-optimal policy for a utility in nats, and its response to a change of
    the utility.
    """

    @property
    def value(self) -> float:
        """The soft value of the start."""

    @property
    def flow(self) -> Iterable[Occupancy]:
        """The occupancy at each time step; a single one, of the whole episode, without
        horizon.
        """

    @property
    def deciding(self) -> Floats:
        """(A, S) actions taken in a whole episode that have consequences."""

    def counts(self, on_actions: bool) -> Floats:
        """Return (S,) visits in a whole episode, or (S, A) actions taken."""

    def tangent(self, direction: Utility) -> Iterable[Occupancy]:
        """Return the derivative of the flow in a direction of the utility. It sums to
        zero at each time step.
        """

    def change(self, direction: Utility, on_actions: bool) -> Floats:
        """Return the derivative of the counts in a direction of the utility."""


class Process(Protocol):
    """Soft-optimal behaviour in a model."""

    @property
    def dynamics(self) -> Dynamics:
        """The model."""

    @property
    def horizon(self) -> float:
        """Number of states that count in an episode; inf for all."""

    def moments(self, utility: Utility, beta: float) -> Moments:
        """Return the soft value of the start at rationality `beta`, and its derivatives
        by beta.
        """

    def limit(self, utility: Utility) -> Limit:
        """Return soft-optimal behaviour as beta goes to +inf."""

    def fit(self, utility: Utility) -> Fit:
        """Find the soft-optimal policy for a utility in nats; -inf is avoided at any
        price.
        """

    def flow_of(self, policy: Policy) -> Iterable[Occupancy]:
        """Return the occupancies of a policy, like `Fit.flow`.

        Raises:
            ValueError: the policy does not fit the model.
        """

    def tabulate(self, utility: Utility, beta: float) -> Policy:
        """Return the soft-optimal policy at rationality `beta`, which may be +-inf.

        Raises:
            ValueError: it is too large to tabulate.
        """


def check_horizon(horizon: int) -> None:
    """Raise a ValueError unless the horizon is a positive whole number."""
    if not isinstance(horizon, Integral) or isinstance(horizon, bool) or horizon < 1:
        raise ValueError(
            f"horizon must be an integer of at least 1 state visited, got {horizon!r}"
        )


def check_tolerance(tolerance: float) -> None:
    """Raise a ValueError unless the tolerance is a number from 0."""
    if not isinstance(tolerance, Real) or not tolerance >= 0:
        raise ValueError(
            f"tolerance: wanted a number of nats from 0, got {tolerance!r}"
        )


def check_size(shape: tuple[int, ...], what: str) -> None:
    """Raise a ValueError if an array of this shape is too large to be held."""
    if prod(shape) > MOST_NUMBERS:
        sizes = " x ".join(f"{n:,}" for n in shape)
        raise ValueError(
            f"{what} has {sizes} = {prod(shape):,} numbers, more than {MOST_NUMBERS:,}: too large to tabulate;"
            " shorten the horizon, or estimate with gde_plugins.meg.from_trajectories"
        )
