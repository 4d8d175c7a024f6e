"""The part of a world that episodes can reach.

Nothing is decided elsewhere, so it need not be solved. Where all episodes begin in a
corner of a large world and end soon, little is left.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, diags_array

from gde.data.arrays import Indices
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.process import check_process

ROUNDING = 1e-9
"""Probability of leaving that counts as none."""


class Reached(NamedTuple):
    """A world and a policy in the R states that episodes can reach."""

    mdp: TabularMDP
    policy: Policy
    states: Indices
    """(R,) of the whole world, in rising order."""


def reached(mdp: TabularMDP, policy: Policy, horizon: int | None) -> Reached:
    """Restrict a world and a policy to what episodes can reach.

    A policy that does not fit the world is left as it is, for `observe` to refuse.

    Raises:
        ValueError: it is no model, or the horizon is not positive.
    """
    check_process(mdp, horizon)
    states = reachable(mdp, horizon)
    if len(states) == mdp.n_states or not _fits(mdp, policy, horizon):
        return Reached(mdp, policy, np.arange(mdp.n_states))
    inside = Policy(probabilities=policy.probabilities[..., states, :])
    return Reached(_restricted(mdp, states), inside, states)


def _fits(mdp: TabularMDP, policy: Policy, horizon: int | None) -> bool:
    if not isinstance(policy, Policy):
        return False
    shape = policy.probabilities.shape
    is_stationary = len(shape) == 2
    is_long_enough = horizon is not None and shape[0] >= horizon
    is_of_world = shape[-2:] == (mdp.n_states, mdp.n_actions)
    return is_of_world and (is_stationary or is_long_enough)


def reachable(mdp: TabularMDP, horizon: int | None) -> Indices:
    """Return the (R,) states that episodes of at most `horizon` states can reach; None
    for episodes of any length.
    """
    is_found = mdp.start > 0
    frontier = np.flatnonzero(is_found)
    length = 1
    while frontier.size and length != horizon:
        follows = np.zeros_like(is_found)
        for matrix in mdp.transition:
            follows[matrix[frontier].indices] = True
        frontier = np.flatnonzero(follows & ~is_found)
        is_found[frontier] = True
        length += 1
    return np.flatnonzero(is_found)


def _restricted(mdp: TabularMDP, states: Indices) -> TabularMDP:
    # Only states in which the last action is taken lead elsewhere. That action has no
    # consequence, so it may as well stay.
    transition = []
    for matrix in mdp.transition:
        inside = csr_array(matrix[states][:, states])
        leaving = 1 - inside.sum(axis=1)
        leaving[leaving < ROUNDING] = 0.0
        transition.append(csr_array(inside + diags_array(leaving)))

    terminal = mdp.terminal
    if terminal is not None:
        terminal = terminal[states]
    return replace(
        mdp,
        transition=tuple(transition),
        start=mdp.start[states],
        reward=mdp.reward[states],
        terminal=terminal,
        labels={},
    )
