"""MEG for an unknown utility: the best of a class (MacDermott et al. 2024, Definition
4.3, Algorithm 2).
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import log
from typing import TYPE_CHECKING, Literal

import numpy as np

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.concave import maximise
from gde_plugins.meg.solvers.family import Family, Features, Table
from gde_plugins.meg.solvers.known import known_utility
from gde_plugins.meg.solvers.neural import Training, train
from gde_plugins.meg.solvers.process import observe, process_of
from gde_plugins.meg.solvers.reachable import reached
from gde_plugins.meg.solvers.result import Meg

if TYPE_CHECKING:
    from torch.nn import Module

TOLERANCE = 1e-6
"""Nats between the bounds at which the search ends, relative to the ceiling where that
is above one.
"""
ITERATIONS = 100
"""Newton steps at most."""


def unknown_utility(
    mdp: TabularMDP,
    policy: Policy,
    utilities: "Literal['states', 'state-actions'] | Doubles | Mapping[str, Doubles] | Module" = "states",
    horizon: int | None = 30,
    *,
    tolerance: float = TOLERANCE,
    iterations: int = ITERATIONS,
    training: Training | None = None,
) -> Meg:
    """Measure a policy's MEG with respect to a class of utilities; the model's own
    reward plays no part.

    Args:
        mdp: the model.
        policy: (S, A), or (T, S, A) with T >= horizon.
        utilities: the class: "states" or "state-actions", any function of them
            (concave: the bounds certify the global optimum); features (S, K) or (S, A,
            K), their weighted sums (likewise); rewards (S,) or (S, A) by name, these
            alone: `value` and `name` are those of the best, `table` has all; a torch
            module from (S, F) inputs to (S,) or (S, 1) utilities: the value is a lower
            bound, the upper one that of any function of states.
        horizon: number of states visited, hence of decisions; None for episodes that go
            on until they end.
        tolerance: nats between the bounds at which to stop, relative to the ceiling
            where that is above one.
        iterations: Newton steps at most; where that is not enough, `converged` is
            False.
        training: how a torch module is fitted, and from which inputs; None for the
            defaults.

    Raises:
        ValueError: the horizon is not positive, or the policy, the features or the
            utilities do not fit the model.
    """
    if isinstance(utilities, Mapping):
        return _best_of(mdp, policy, utilities, horizon)
    world, inside, states = reached(mdp, policy, horizon)
    process = process_of(world, horizon, states)

    # A network is bounded from above by any function of states.
    features = None
    on_actions = False
    if isinstance(utilities, np.ndarray):
        features = Features(utilities, mdp)
        on_actions = features.on_actions
    elif isinstance(utilities, str):
        on_actions = utilities == "state-actions"
        if utilities not in {"states", "state-actions"}:
            wanted = "'states', 'state-actions', an array of features, rewards by name or a torch module"
            raise ValueError(f"utilities must be {wanted}, got {utilities!r}")
    seen = observe(process, inside, on_actions)
    family: Family = Table(seen.occupancy, on_actions)
    if features:
        family = features.at(states)

    ceiling = seen.decisions * log(mdp.n_actions)
    close = tolerance * max(1.0, ceiling)
    best = maximise(process, family, seen, close, iterations)
    if features:
        utility = features.utility(best.weights)
    else:
        utility = _everywhere(family.utility(best.weights), states, mdp)
    meg = Meg(
        value=best.value,
        beta=1.0,
        bounds=(best.value, best.upper),
        converged=best.upper - best.value <= close,
        decisions=seen.decisions,
        n_actions=mdp.n_actions,
        utility=utility,
        weights=best.weights if features else None,
        find_policy=partial(_soft_policy, mdp, utility, horizon),
    )
    if isinstance(utilities, str | np.ndarray):
        return meg

    whole = process_of(mdp, horizon)
    occupancy = observe(whole, policy, on_actions).occupancy
    return train(mdp, whole, occupancy, utilities, training or Training(), meg)


def _everywhere(utility: Doubles, states: Indices, mdp: TabularMDP) -> Doubles:
    """Return the utility of these states as one of the whole world: -inf where no
    episode gets.
    """
    shape = (mdp.n_states, *utility.shape[1:])
    table = np.full(shape, -np.inf)
    table[states] = utility
    return table


def _soft_policy(mdp: TabularMDP, utility: Doubles, horizon: int | None) -> Policy:
    process = process_of(mdp, horizon)
    return process.tabulate(process.dynamics.utility(utility), 1.0)


def _best_of(
    mdp: TabularMDP, policy: Policy, rewards: Mapping[str, Doubles], horizon: int | None
) -> Meg:
    """Measure each reward by itself, and return the best with all in its table."""
    if not rewards:
        raise ValueError("utilities must name at least one reward, got none")
    table = {}
    for name, reward in rewards.items():
        world = replace(mdp, reward=reward)
        table[name] = known_utility(world, policy, horizon)

    # The best value may belong to one reward, and the highest upper bound to another.
    best = max(table, key=lambda name: table[name].value)
    lower, _ = table[best].bounds
    upper = max(meg.bounds[1] for meg in table.values())
    return replace(table[best], bounds=(lower, upper), name=best, table=table)
