"""How much goal-directedness depends on what states are told apart: the same behaviour in a coarser model."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, diags_array

from gde.data.mdp import Floats, Policy, TabularMDP
from gde_plugins.meg.solvers.process import observe, process_of


class Coarse(NamedTuple):
    """What is left of a model and a policy when states are merged."""

    mdp: TabularMDP
    policy: Policy
    """(G, A)."""


def coarsened(mdp: TabularMDP, policy: Policy, groups: ArrayLike, horizon: int | None = 30) -> Coarse:
    """Merge states: each stands for its group as often as the policy visits it (and alike where it never does).

    The merged model is right for this policy on average and for no other, and the reward of a group is the mean over
    its states, so goal-directedness may go either way. Measure both, e.g. with `known_utility`: what changes is owed to
    what was told apart.

    Args:
        mdp: the model.
        policy: (S, A), or (T, S, A) with T >= horizon.
        groups: (S,) number of each state's group, from 0 to G - 1, e.g. `np.unique(label, return_inverse=True)[1]`.
        horizon: as in `known_utility`.

    Raises:
        ValueError: groups that are not numbered so, or that hold terminal states and others.
    """
    process = process_of(mdp, horizon)
    groups = np.asarray(groups)
    if groups.shape != (mdp.n_states,) or groups.dtype.kind not in "iu" or set(groups) != set(range(groups.max() + 1)):
        raise ValueError(f"groups: wanted ({mdp.n_states},) whole numbers, each from 0 to the largest, got others")
    n = int(groups.max()) + 1
    seen = observe(process, policy, on_actions=False).occupancy
    weights = _within(seen.visits, groups, n)
    belongs = csr_array((np.ones(mdp.n_states), (np.arange(mdp.n_states), groups)), shape=(mdp.n_states, n))
    stands = csr_array(belongs.T @ diags_array(weights))
    return Coarse(
        TabularMDP(
            transition=tuple(_scaled(csr_array(stands @ matrix @ belongs)) for matrix in mdp.transition),
            start=np.asarray(mdp.start @ belongs),
            reward=np.asarray(stands @ mdp.reward),
            terminal=None if mdp.terminal is None else _ended(mdp.terminal, groups, n),
            discount=mdp.discount,
            actions=mdp.actions,
            labels={name: np.asarray(stands @ values) for name, values in mdp.labels.items()},
        ),
        Policy(probabilities=_chosen(np.asarray(belongs.T @ seen.taken.T))),
    )


def _within(visits: Floats, groups: NDArray[np.integer], n: int) -> Floats:
    """(S,) share of each state in its group."""
    of_group = np.bincount(groups, weights=visits, minlength=n)[groups]
    alike = 1 / np.bincount(groups, minlength=n)[groups]
    return np.asarray(np.divide(visits, of_group, where=of_group > 0, out=alike))


def _chosen(taken: Floats) -> Floats:
    """(G, A) probabilities; uniform where nothing is done."""
    total = taken.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(taken, total, where=total > 0, out=np.full_like(taken, 1 / taken.shape[1])))


def _scaled(matrix: csr_array) -> csr_array:
    """Rows that sum to one in spite of rounding."""
    return csr_array(diags_array(1 / np.asarray(matrix.sum(axis=1)).ravel()) @ matrix)


def _ended(terminal: NDArray[np.bool_], groups: NDArray[np.integer], n: int) -> NDArray[np.bool_]:
    counts = np.bincount(groups, weights=terminal, minlength=n)
    if ((counts > 0) & (counts < np.bincount(groups, minlength=n))).any():
        raise ValueError("groups: wanted terminal states in groups of their own, got some with others")
    return np.asarray(counts > 0)
