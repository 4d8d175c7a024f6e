"""Targets that are named by variable and time, e.g. "the row at step 5": MEG towards any function of each."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np

from gde.data.mdp import Floats, Policy, TabularMDP
from gde_plugins.meg.solvers.protocol import check_horizon
from gde_plugins.meg.solvers.result import Meg
from gde_plugins.meg.solvers.unknown import unknown_utility
from gde_plugins.meg.worlds import unrolled


def targets_at(mdp: TabularMDP, policy: Policy, targets: Mapping[str, Sequence[int]], horizon: int = 30) -> Meg:
    """MEG with respect to variables of states at given times (MacDermott et al. 2024, Definition 4.4, in a model).

    The utility is a sum of any functions, one of each variable at each of its times. Towards any utility of the same
    state at every time it is `unknown_utility`; this one holds "be there at the end", which that one does not.

    Args:
        mdp: a model without terminal states, which end an episode at no time that is known beforehand.
        policy: (S, A), or (T, S, A) with T >= horizon.
        targets: names of the model's labels, and the times at which each counts, from 0 to horizon - 1.
        horizon: number of states visited.

    Returns:
        As `unknown_utility` does; `weights` are those of the values that each target has, in rising order.

    Raises:
        ValueError: no target, a label that the model does not have, a time beyond the horizon, or terminal states.
    """
    check_horizon(horizon)
    if not isinstance(targets, Mapping) or any(isinstance(t, int | str) for t in targets.values()):
        raise ValueError(f"targets: wanted a list of times by label, got {targets!r}")
    times = [(name, t) for name, each in targets.items() for t in each]
    if not times:
        raise ValueError("targets: wanted at least one variable at one time, got none")
    for name, t in times:
        if name not in mdp.labels:
            known = ", ".join(mdp.labels) or "of which it has none"
            raise ValueError(f"targets: wanted labels of the model, {known}, got {name!r}")
        if not isinstance(t, Integral) or not 0 <= t < horizon:
            raise ValueError(f"targets: wanted times from 0 to {horizon - 1}, got {t!r} for {name!r}")
    world = unrolled(mdp, horizon)
    columns = [column for name, t in times for column in _values(mdp.labels[name], t, horizon)]
    features = np.stack(columns, axis=1)
    return unknown_utility(world, _through_time(policy, mdp, horizon), features, horizon)


def _values(label: Floats, time: int, horizon: int) -> list[Floats]:
    """Of each value, ((horizon + 1) * S,) whether the variable has it at that time."""
    found = []
    for value in np.unique(label):
        column = np.zeros((horizon + 1, len(label)))
        column[time] = label == value
        found.append(column.ravel())
    return found


def _through_time(policy: Policy, mdp: TabularMDP, horizon: int) -> Policy:
    table = policy.probabilities
    wanted = (mdp.n_states, mdp.n_actions)
    if table.shape[-2:] != wanted or (table.ndim > len(wanted) and len(table) < horizon):
        raise ValueError(f"the policy must have shape {wanted} or (at least {horizon}, ...), got {table.shape}")
    steps = np.broadcast_to(table, (horizon, *wanted)) if table.ndim == len(wanted) else table[:horizon]
    last = np.full((1, *wanted), 1 / wanted[1])
    return replace(policy, probabilities=np.concatenate([steps, last]).reshape(-1, wanted[1]))
