"""The decision process of a model, soft-optimal policies in it, and the occupancy of a
policy.
"""

from math import isnan
from typing import NamedTuple

import numpy as np

from gde.data.arrays import Indices
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.dynamics import Occupancy
from gde_plugins.meg.solvers.finite_horizon import (
    Finite,
    FiniteFit,
    check_horizon,
)
from gde_plugins.meg.solvers.infinite_horizon import Stationary, StationaryFit
from gde_plugins.meg.solvers.softmax import divergence

Process = Finite | Stationary
Fit = FiniteFit | StationaryFit


def process_of(
    mdp: TabularMDP, horizon: int | None, states: Indices | None = None
) -> Process:
    """Return the process of episodes of at most `horizon` states, or for None of
    episodes that end by themselves. Messages number the model's states by `states`.

    Raises:
        ValueError: it is no model, or the horizon is not positive.
    """
    check_process(mdp, horizon)
    if horizon is None:
        return Stationary(mdp, states)
    return Finite(mdp, horizon)


def check_process(mdp: TabularMDP, horizon: int | None) -> None:
    """Raise a ValueError unless it is a model and the horizon is None or positive."""
    if not isinstance(mdp, TabularMDP):
        raise ValueError(
            f"mdp: wanted a TabularMDP, got {type(mdp).__name__}: use TabularMDP.of for arrays and lists"
        )
    if horizon is not None:
        check_horizon(horizon)


def soft_policy(mdp: TabularMDP, beta: float, horizon: int | None = 30) -> Policy:
    """Return the policy of most causal entropy for its expected reward (MacDermott et
    al. 2024, Theorem 5.1, eq. 3).

    Args:
        mdp: the model; a reward (S,) is earned in each of the `horizon` states visited,
        a reward (S, A) by each action.
            Its discount is the probability that the episode goes on after a step.
        beta: rationality in units of 1 / reward. 0 is uniform; +-inf is the policy of
        most causal entropy among the
            best, or worst, ones.
        horizon: number of states visited, hence of decisions; None for episodes that go
        on until they end.

    Returns:
        (H, S, A) probabilities, (S, A) without horizon; uniform in terminal states.

    Raises:
        ValueError: the horizon is not positive, beta is NaN, or the policy is too large
            to tabulate.
    """
    if isnan(beta):
        raise ValueError("beta must be a number or +-inf, got NaN")
    process = process_of(mdp, horizon)
    utility = process.dynamics.utility(mdp.reward)
    return process.tabulate(utility, beta)


class Observed(NamedTuple):
    """What the accuracy of predicting a policy depends on."""

    occupancy: Occupancy
    """Over a whole episode."""
    divergence: float
    """Expected nats by which its choices depart from uniform choice: no prediction is
    more accurate.
    """
    decisions: float
    """Expected number of decisions that can have consequences for a utility."""


def observe(process: Process, policy: Policy, on_actions: bool) -> Observed:
    """Follow a policy through the process.

    Args:
        process: where it acts.
        policy: (S, A), or (T, S, A) with T >= horizon.
        on_actions: whether utilities depend on actions, so that every decision has
            consequences.

    Raises:
        ValueError: the policy does not fit the model.
    """
    if not isinstance(policy, Policy):
        raise ValueError(
            f"policy: wanted a Policy, got {type(policy).__name__}: use Policy.of for arrays and lists"
        )
    dynamics = process.dynamics

    # For a utility of states, a decision matters if actions lead elsewhere, and if
    # there is a state after it.
    if on_actions:
        last = process.horizon
        matters = dynamics.going
    else:
        last = process.horizon - 1
        matters = dynamics.consequential()

    taken = np.zeros((dynamics.n_actions, dynamics.n_states))
    visits = np.zeros(dynamics.n_states)
    depends_on_time = policy.probabilities.ndim == 3
    departs = 0.0
    decisions = 0.0
    for t, now in enumerate(process.flow_of(policy)):
        taken += now.taken
        visits += now.visits
        if depends_on_time:
            departs += divergence(now.taken)
        if t < last:
            decisions += float(now.visits @ matters)

    # A policy that does not depend on time departs alike at all times: one pass does
    # for the whole episode.
    if not depends_on_time:
        departs = divergence(taken)
    return Observed(Occupancy(taken, visits), departs, decisions)
