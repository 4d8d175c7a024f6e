"""Dynamic programming on a tabulated world: certified optimal actions, and what a policy visits."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, vstack
from scipy.sparse.csgraph import dijkstra

from gde.data.mdp import Floats, Policy, TabularMDP
from gde.errors import GdeError

TOLERANCE = 1e-9
"""Relative error of value iteration; exact search has none."""
SWEEPS = 100_000
"""Sweeps of value iteration before it is given up."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """What the best policy earns, and by which actions."""

    value: Floats
    """(S,) optimal expected return; -inf where, undiscounted, no terminal state can be relied on to come."""
    optimal: NDArray[np.bool_]
    """(S, A) the set of optimal actions. Empty exactly where there is nothing to choose or to hope for: in
    terminal states and where the value is -inf."""


_SOLVED: WeakKeyDictionary[TabularMDP, tuple[float, Solution]] = WeakKeyDictionary()
"""Tolerance and solution of models that somebody holds: the judge and an optimal agent ask for the same."""


def solve(mdp: TabularMDP, tolerance: float = TOLERANCE) -> Solution:
    """The optimal value and all optimal actions of every state. A model is solved once, whoever asks.

    A reward (S,) is earned in every state visited, once in the terminal state that ends the episode; a reward
    (S, A) by acting, hence never in a terminal state. Undiscounted, an episode must end: where none can, the
    value is -inf.

    A deterministic, undiscounted world where every step costs the same and ends cost nothing is solved by
    breadth-first search backwards from its ends, without rounding. Any other is solved by value iteration, until
    values are within `tolerance` of the optimum (undiscounted: until a sweep changes them by no more), relative to
    the rewards, signs aside, that add up to them. Actions within twice that of the best then count as optimal. So
    neither the unit of the reward matters nor what is large elsewhere. Where waiting is free it is among them, being
    as good as going.

    Raises:
        ValueError: undiscounted and without any terminal state.
        GdeError: value iteration does not settle, e.g. because rewards can be collected for ever.
    """
    found = _SOLVED.get(mdp)
    if found is None or found[0] != tolerance:
        cost = _step_cost(mdp)
        solution = _iterate_values(mdp, tolerance) if cost is None else _search(mdp, cost)
        solution.value.flags.writeable = solution.optimal.flags.writeable = False
        found = _SOLVED[mdp] = tolerance, solution
    return found[1]


def steps_to(graph: csr_array, targets: NDArray[np.intp]) -> Floats:
    """(S,) fewest edges from every node to the nearest target, inf where there is no way.

    Args:
        graph: (S, S), an edge from i to j where entry [i, j] is stored.
        targets: (K,) node indices.
    """
    # The arrays of a CSR matrix read as CSC are its transpose: the graph with its edges turned round.
    reverse = csc_array((graph.data, graph.indices, graph.indptr), shape=graph.shape).tocsr()
    steps: Floats = dijkstra(reverse, indices=targets, unweighted=True, min_only=True)
    return steps


def occupancy(mdp: TabularMDP, policy: Policy, horizon: int) -> Floats:
    """(S, A) expected discounted number of times that each action is taken in each state in `horizon` steps.

    Undiscounted and without terminal states it sums to `horizon`. No action is taken in a terminal state. Against
    a reward (S, A) its weighted sum is the policy's expected return.

    Raises:
        ValueError: the policy has other states or actions than the model, or fewer time steps than `horizon`.
    """
    probabilities = _over_time(mdp, policy, horizon)
    going = ~_terminal(mdp)
    visits, total = mdp.start, np.zeros((mdp.n_states, mdp.n_actions))
    for now in probabilities:
        taken = (visits * going)[:, None] * now
        total += taken
        visits = mdp.discount * sum(matrix.T @ taken[:, a] for a, matrix in enumerate(mdp.transition))
    return total


def _over_time(mdp: TabularMDP, policy: Policy, horizon: int) -> Floats:
    shape, wanted = policy.probabilities.shape, (mdp.n_states, mdp.n_actions)
    if shape[-2:] != wanted or (len(shape) == 3 and shape[0] < horizon):
        raise ValueError(f"the policy must have shape {wanted} or (at least {horizon}, *{wanted}), got {shape}")
    return (
        np.broadcast_to(policy.probabilities, (horizon, *wanted)) if len(shape) == 2 else policy.probabilities[:horizon]
    )


def _terminal(mdp: TabularMDP) -> NDArray[np.bool_]:
    return np.zeros(mdp.n_states, dtype=bool) if mdp.terminal is None else mdp.terminal


def _step_cost(mdp: TabularMDP) -> float | None:
    """What every step costs, if all cost the same, ends cost nothing and no chance is involved; None otherwise."""
    terminal = _terminal(mdp)
    rewards = mdp.reward[~terminal]
    if mdp.discount != 1 or not terminal.any() or not rewards.size or not mdp.deterministic:
        return None
    if mdp.reward.ndim == 1 and mdp.reward[terminal].any():
        return None
    cost = -float(rewards.flat[0])
    return cost if cost > 0 and (rewards == -cost).all() else None


def _search(mdp: TabularMDP, cost: float) -> Solution:
    # One successor a row, so the column indices of a transition matrix are the successors in order.
    successors = np.stack([matrix.indices for matrix in mdp.transition], axis=1)
    S, A = successors.shape
    graph = csr_array((np.ones(S * A), successors.ravel(), np.arange(0, S * A + 1, A)), shape=(S, S))
    steps = steps_to(graph, np.flatnonzero(_terminal(mdp)))
    after = steps[successors]
    optimal = np.isfinite(steps)[:, None] & (after == steps[:, None] - 1)
    return Solution(value=0.0 - cost * steps, optimal=optimal)


def union(mdp: TabularMDP) -> csr_array:
    """(S, S) an entry wherever some action may lead from one state to the other."""
    graph = csr_array(sum(mdp.transition[1:], start=mdp.transition[0].copy()))
    graph.eliminate_zeros()
    return graph


def _iterate_values(mdp: TabularMDP, tolerance: float) -> Solution:
    terminal, value = _terminal(mdp), _first_value(mdp)
    size, settled = np.zeros(mdp.n_states), tolerance * (1 - mdp.discount if mdp.discount < 1 else 1)
    successors = vstack(mdp.transition, format="csr")
    successors.eliminate_zeros()  # a stored zero times a value of -inf would be NaN
    for _ in range(SWEEPS):
        quality = _quality(mdp, successors, mdp.reward, value)
        sizes = _quality(mdp, successors, np.abs(mdp.reward), size)
        size = np.take_along_axis(sizes, quality.argmax(axis=1)[:, None], axis=1)[:, 0]
        better, known = np.where(terminal, value, quality.max(axis=1)), np.isfinite(value)
        change = np.abs(better[known] - value[known])
        value = better
        if (change <= settled * size[known]).all():
            quality = _quality(mdp, successors, mdp.reward, value)
            best = quality.max(axis=1, keepdims=True)
            shortfall = np.where(np.isfinite(best), best, 0.0) - quality
            close = shortfall <= 2 * tolerance * np.maximum(sizes, size[:, None])
            return Solution(value=value, optimal=close & (np.isfinite(value) & ~terminal)[:, None])
    raise GdeError(
        f"no optimal value found: values still change by {change.max():.3g} after {SWEEPS} sweeps;"
        " give the model a discount below 1 or make every step cost something"
    )


def _first_value(mdp: TabularMDP) -> Floats:
    terminal = _terminal(mdp)
    value = np.zeros(mdp.n_states)
    if mdp.reward.ndim == 1:
        value[terminal] = mdp.reward[terminal]
    if mdp.discount == 1:
        if not terminal.any():
            raise ValueError("an undiscounted model needs a terminal state, got none: give a discount below 1")
        value[np.isinf(steps_to(union(mdp), np.flatnonzero(terminal)))] = -np.inf
    return value


def _quality(mdp: TabularMDP, successors: Any, reward: Floats, value: Floats) -> Floats:
    """(S, A) return of one action followed by what `value` promises."""
    reward = reward if reward.ndim == 2 else reward[:, None]
    ahead: Floats = (successors @ value).reshape(mdp.n_actions, mdp.n_states).T
    return reward + mdp.discount * ahead
