"""Dynamic programming on tabular worlds: optimal actions, and the states that a policy
visits.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.sparse import csc_array, csr_array, vstack
from scipy.sparse.csgraph import dijkstra

from gde.data.arrays import Bools, Doubles, Indices
from gde.data.mdp import Policy, TabularMDP
from gde.errors import GdeError

TOLERANCE = 1e-9
"""Relative error of value iteration. Search is exact."""
SWEEPS = 100_000
"""Most sweeps of value iteration."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """The optimal value and all optimal actions."""

    value: Doubles
    """(S,) optimal expected return; -inf where an undiscounted episode need not end."""
    optimal: Bools
    """(S, A) the set of optimal actions; empty in terminal states and where the value
    is -inf.
    """


_SOLVED: WeakKeyDictionary[TabularMDP, tuple[float, Solution]] = WeakKeyDictionary()
"""Tolerance and solution of models in use: the judge and an optimal agent need the same
one.
"""


def solve(mdp: TabularMDP, tolerance: float = TOLERANCE) -> Solution:
    """The optimal value and all optimal actions of every state. Each model is solved
    once.

    A reward (S,) is earned in every state visited, once in the terminal state that ends
    the episode. A reward (S, A) is earned by acting, hence never in a terminal state.
    An undiscounted episode must end: where none can, the value is -inf.

    Breadth-first search backwards from the terminal states solves a deterministic,
    undiscounted world where every step costs the same and ends cost nothing. It has no
    rounding errors.

    Value iteration solves any other world, until values are within `tolerance` of the
    optimum; undiscounted, until a sweep changes them by no more. The tolerance is
    relative to the sum of absolute rewards behind a value, so that neither the unit of
    the reward nor large values elsewhere matter. Actions within twice the tolerance of
    the best count as optimal. Where waiting is free, it is optimal too.

    Raises:
        ValueError: undiscounted and without any terminal state.
        GdeError: value iteration does not converge, e.g. because rewards can be
            collected for ever.
    """
    known = _SOLVED.get(mdp)
    if known is not None:
        known_tolerance, solution = known
        if known_tolerance == tolerance:
            return solution

    cost = _step_cost(mdp)
    if cost is None:
        solution = _iterate_values(mdp, tolerance)
    else:
        solution = _search(mdp, cost)

    # Judge and agent share the arrays: neither may change what the other reads.
    solution.value.flags.writeable = False
    solution.optimal.flags.writeable = False
    _SOLVED[mdp] = tolerance, solution
    return solution


def steps_to(graph: csr_array, targets: Indices) -> Doubles:
    """(S,) fewest edges from every node to the nearest target; inf where no path
    exists.

    Args:
        graph: (S, S), an edge from i to j where entry [i, j] is stored.
        targets: (K,) node indices.
    """
    # The arrays of a CSR matrix, read as CSC, are its transpose: the graph with
    # reversed edges.
    reverse = csc_array(
        (graph.data, graph.indices, graph.indptr), shape=graph.shape
    ).tocsr()
    steps: Doubles = dijkstra(reverse, indices=targets, unweighted=True, min_only=True)
    return steps


def occupancy(mdp: TabularMDP, policy: Policy, horizon: int) -> Doubles:
    """(S, A) expected discounted number of times that each action is taken in each
    state in `horizon` steps.

    Undiscounted and without terminal states it sums to `horizon`. No action is taken in
    a terminal state. Weighted with a reward (S, A), it sums to the policy's expected
    return.

    Raises:
        ValueError: the policy has other states or actions than the model, or fewer time
            steps than `horizon`.
    """
    probabilities = _over_time(mdp, policy, horizon)
    going = ~_terminal(mdp)
    visits = mdp.start
    total = np.zeros((mdp.n_states, mdp.n_actions))
    for now in probabilities:
        acting = visits * going
        taken = acting[:, None] * now
        total += taken

        # visits[s'] = discount * sum over s and a of taken[s, a] P(s' | s, a)
        arriving = np.zeros(mdp.n_states)
        for a, matrix in enumerate(mdp.transition):
            arriving = arriving + matrix.T @ taken[:, a]
        visits = mdp.discount * arriving
    return total


def _over_time(mdp: TabularMDP, policy: Policy, horizon: int) -> Doubles:
    """(horizon, S, A) the policy at each time step."""
    shape = policy.probabilities.shape
    wanted = (mdp.n_states, mdp.n_actions)
    depends_on_time = len(shape) == 3
    too_short = depends_on_time and shape[0] < horizon
    if shape[-2:] != wanted or too_short:
        raise ValueError(
            f"the policy must have shape {wanted} or (at least {horizon}, *{wanted}), got {shape}"
        )

    if depends_on_time:
        return policy.probabilities[:horizon]
    return np.broadcast_to(policy.probabilities, (horizon, *wanted))


def _terminal(mdp: TabularMDP) -> Bools:
    if mdp.terminal is None:
        return np.zeros(mdp.n_states, dtype=bool)
    return mdp.terminal


def _step_cost(mdp: TabularMDP) -> float | None:
    """The cost of a step in a deterministic world where all steps cost the same and
    ends nothing; None otherwise.
    """
    terminal = _terminal(mdp)
    rewards = mdp.reward[~terminal]
    if mdp.discount != 1 or not mdp.deterministic:
        return None
    if not terminal.any() or not rewards.size:
        return None

    # Ends that pay differ in value: the nearest need not be the best.
    ends_pay = mdp.reward.ndim == 1 and mdp.reward[terminal].any()
    if ends_pay:
        return None

    cost = -float(rewards.flat[0])
    costs_are_equal = (rewards == -cost).all()
    if cost > 0 and costs_are_equal:
        return cost
    return None


def _search(mdp: TabularMDP, cost: float) -> Solution:
    # Each row has one entry, so the column indices of a transition matrix are the
    # successors in order.
    successors = np.stack([matrix.indices for matrix in mdp.transition], axis=1)
    S, A = successors.shape

    # The graph has an edge from each state to its A successors.
    edges = np.ones(S * A)
    row_starts = np.arange(0, S * A + 1, A)
    graph = csr_array((edges, successors.ravel(), row_starts), shape=(S, S))
    ends = np.flatnonzero(_terminal(mdp))
    steps = steps_to(graph, ends)

    # An action is optimal if one step fewer remains after it.
    after = steps[successors]
    gains_a_step = after == steps[:, None] - 1
    can_end = np.isfinite(steps)[:, None]
    # Subtracting from zero avoids a negative zero in terminal states.
    return Solution(value=0.0 - cost * steps, optimal=can_end & gains_a_step)


def union(mdp: TabularMDP) -> csr_array:
    """(S, S) with an entry wherever some action may lead from one state to the
    other.
    """
    graph = csr_array(sum(mdp.transition))
    graph.eliminate_zeros()
    return graph


def _iterate_values(mdp: TabularMDP, tolerance: float) -> Solution:
    terminal = _terminal(mdp)
    value = _first_value(mdp)
    # The sum of absolute rewards behind each value, which the tolerance is relative to.
    size = np.zeros(mdp.n_states)
    # A sweep that changes values by x leaves them within x / (1 - discount) of the
    # optimum.
    settled = tolerance
    if mdp.discount < 1:
        settled = tolerance * (1 - mdp.discount)

    successors = vstack(mdp.transition, format="csr")
    # A stored zero times a value of -inf would be NaN.
    successors.eliminate_zeros()

    for _ in range(SWEEPS):
        quality = _quality(mdp, successors, mdp.reward, value)
        sizes = _quality(mdp, successors, np.abs(mdp.reward), size)
        best_action = quality.argmax(axis=1)[:, None]
        size = np.take_along_axis(sizes, best_action, axis=1)[:, 0]

        # Values of -inf are final, and their difference would be NaN.
        known = np.isfinite(value)
        better = np.where(terminal, value, quality.max(axis=1))
        change = np.abs(better[known] - value[known])
        value = better
        if not (change <= settled * size[known]).all():
            continue

        quality = _quality(mdp, successors, mdp.reward, value)
        best = quality.max(axis=1, keepdims=True)
        shortfall = np.where(np.isfinite(best), best, 0.0) - quality
        close = shortfall <= 2 * tolerance * np.maximum(sizes, size[:, None])
        has_choice = np.isfinite(value) & ~terminal
        return Solution(value=value, optimal=close & has_choice[:, None])

    raise GdeError(
        f"no optimal value found: values still change by {change.max():.3g} after {SWEEPS} sweeps;"
        " give the model a discount below 1 or make every step cost something"
    )


def _first_value(mdp: TabularMDP) -> Doubles:
    terminal = _terminal(mdp)
    value = np.zeros(mdp.n_states)
    # A reward (S, A) pays for actions, and a terminal state has none.
    if mdp.reward.ndim == 1:
        value[terminal] = mdp.reward[terminal]
    if mdp.discount < 1:
        return value

    if not terminal.any():
        raise ValueError(
            "an undiscounted model needs a terminal state, got none: give a discount below 1"
        )
    steps = steps_to(union(mdp), np.flatnonzero(terminal))
    never_ends = np.isinf(steps)
    value[never_ends] = -np.inf
    return value


def _quality(
    mdp: TabularMDP, successors: Any, reward: Doubles, value: Doubles
) -> Doubles:
    """(S, A) the return of one action and then of `value`."""
    if reward.ndim == 1:
        reward = reward[:, None]

    # The matrices of all actions stand below each other.
    stacked = successors @ value
    ahead: Doubles = stacked.reshape(mdp.n_actions, mdp.n_states).T
    return reward + mdp.discount * ahead
