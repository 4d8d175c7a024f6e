"""The process of a model, with a finite horizon or without end, and what a policy does in it."""

from typing import NamedTuple

import numpy as np

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.dynamics import Occupancy
from gde_plugins.meg.solvers.finite import Finite
from gde_plugins.meg.solvers.protocol import Process
from gde_plugins.meg.solvers.softmax import divergence
from gde_plugins.meg.solvers.stationary import Stationary


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
    if not isinstance(policy, Policy):
        raise ValueError(f"policy: wanted a Policy, got {type(policy).__name__}: use Policy.of for arrays and lists")
    dynamics, last = process.dynamics, process.horizon - (not on_actions)
    matters = dynamics.going if on_actions else dynamics.consequential()
    total = Occupancy(np.zeros((dynamics.n_actions, dynamics.n_states)), np.zeros(dynamics.n_states))
    departs = decisions = 0.0
    depends_on_time = policy.probabilities.ndim == 3
    for t, now in enumerate(process.flow_of(policy)):
        np.add(total.taken, now.taken, out=total.taken)
        np.add(total.visits, now.visits, out=total.visits)
        departs += divergence(now.taken) if depends_on_time else 0.0
        decisions += float(now.visits @ matters) if t < last else 0.0
    return Observed(total, departs if depends_on_time else divergence(total.taken), decisions)


def process_of(mdp: TabularMDP, horizon: int | None) -> Process:
    """Episodes of at most `horizon` states, or for None episodes that go on until they end.

    Raises:
        ValueError: it is no model, or the horizon is not positive.
    """
    if not isinstance(mdp, TabularMDP):
        raise ValueError(f"mdp: wanted a TabularMDP, got {type(mdp).__name__}: use TabularMDP.of for arrays and lists")
    if horizon is None:
        return Stationary(mdp)
    return Finite(mdp, horizon)
