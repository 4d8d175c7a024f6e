"""Small worlds of the goal-directedness literature, and the policies that are measured
in them.
"""

from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, kron

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.solvers.finite_horizon import check_horizon

CLIFF_MOVES = {
    "UP-LEFT": (-1, -1),
    "UP-RIGHT": (-1, 1),
    "DOWN-LEFT": (1, -1),
    "DOWN-RIGHT": (1, 1),
}
"""Action to (rows, columns) moved, in action index order. There is no straight move and
no waiting.
"""
GOAL_REWARD = 10.0
CLIFF_REWARD = -10.0
STEP_REWARD = -1.0
TIE = 1e-9
"""Action values closer than this, relative to the largest, count as equal."""

Ties = Literal["first", "uniform"]


def cliff_world(
    width: int = 10,
    height: int = 4,
    goal_length: int = 1,
    wind: float = 0.3,
) -> TabularMDP:
    """Return the cliff world of the `seals` suite (Gleave et al. 2020): along a cliff,
    from top left to top right.

    State index: row * width + column, row 0 at the top. With probability `wind` a move
    ends one row further up. Rows and columns are clamped to the world independently.
    The reward (S,) is that of the current state: 10 in the goal, -10 on the cliff (row
    0 between the corners), -1 elsewhere. Nothing is terminal: the goal pays for as long
    as the agent stays in it.

    Args:
        width: columns, at least 2.
        height: rows.
        goal_length: number of goal cells in row 0, counted from the right, and in the
            last column, counted from the top (MacDermott et al. 2024, fig. 3).
        wind: probability of one row further up.

    Raises:
        ValueError: the world is too small, the goal does not fit, or `wind` is no
            probability.
    """
    if width < 2 or height < 1:
        raise ValueError(
            f"wanted a width from 2 and a height from 1, got {width} and {height}"
        )
    # The corner where the agent starts is never a goal.
    longest = min(height, width - 1)
    if not 1 <= goal_length <= longest:
        bound = f"from 1 to {longest} in a world of {height} x {width}"
        raise ValueError(f"goal_length: wanted {bound}, got {goal_length}")
    if not 0 <= wind <= 1:
        raise ValueError(f"wind: wanted a probability, got {wind}")

    states = np.arange(height * width)
    row, column = np.divmod(states, width)
    in_top_row = (row == 0) & (column >= width - goal_length)
    in_last_column = (column == width - 1) & (row < goal_length)
    goal = in_top_row | in_last_column
    cliff = (row == 0) & (column > 0) & ~goal

    reward = np.full(len(states), STEP_REWARD)
    reward[cliff] = CLIFF_REWARD
    reward[goal] = GOAL_REWARD

    # The number of walls beside a cell: two in a corner, one at any other border.
    at_top_or_bottom = (row == 0).astype(float) + (row == height - 1)
    at_side = (column == 0).astype(float) + (column == width - 1)
    transition = [_windy_move(row, column, move, wind) for move in CLIFF_MOVES.values()]
    return TabularMDP(
        transition=tuple(transition),
        start=(states == 0).astype(float),
        reward=reward,
        actions=tuple(CLIFF_MOVES),
        labels={
            "row": row.astype(float),
            "column": column.astype(float),
            "goal": goal.astype(float),
            "cliff": cliff.astype(float),
            "wall": at_top_or_bottom + at_side,
        },
    )


def _windy_move(
    row: Indices,
    column: Indices,
    move: tuple[int, int],
    wind: float,
) -> csr_array:
    """Return the (S, S) transitions of one move, with and without wind."""
    height = int(row.max()) + 1
    width = int(column.max()) + 1
    here = row * width + column
    rows, columns = move

    # Move and wind add up before the row is clamped: DOWN with wind from the top row
    # stays there.
    target_column = np.clip(column + columns, 0, width - 1)
    calm_row = np.clip(row + rows, 0, height - 1)
    blown_row = np.clip(row + rows - 1, 0, height - 1)
    calm = calm_row * width + target_column
    blown = blown_row * width + target_column

    origins = np.tile(here, 2)
    targets = np.concatenate([calm, blown])
    chances = np.repeat([1 - wind, wind], len(here))
    # Where both lead to the same state, the conversion adds their probabilities.
    entries = (chances, (origins, targets))
    matrix = coo_array(entries, shape=(len(here), len(here))).tocsr()
    matrix.eliminate_zeros()
    return matrix


def greedy(mdp: TabularMDP, horizon: int, ties: Ties = "first") -> Policy:
    """Return the optimal policy (T, S, A) for `horizon` steps, which depends on the
    steps that are left.

    A reward (S,) is earned in the state that is acted in, so the last action has no
    consequence and is always tied.

    Args:
        mdp: the model, with its discount.
        horizon: T.
        ties: equally good actions: the one with the lowest index, or all with equal
            probability.

    Raises:
        ValueError: the horizon is not positive.
    """
    check_horizon(horizon)

    # A terminal state pays its reward (S,) once more; a reward (S, A) is paid for
    # actions, and there are none.
    if mdp.reward.ndim == 1:
        reward = mdp.reward[:, None]
        last_reward = mdp.reward
    else:
        reward = mdp.reward
        last_reward = np.zeros(mdp.n_states)
    ended = mdp.terminal
    if ended is None:
        ended = np.zeros(mdp.n_states, dtype=bool)

    # Backward induction: the value of what follows is known before that of a step.
    probabilities = np.empty((horizon, mdp.n_states, mdp.n_actions))
    value = np.zeros(mdp.n_states)
    for step in reversed(range(horizon)):
        following = np.stack([matrix @ value for matrix in mdp.transition], axis=1)
        quality = reward + mdp.discount * following
        probabilities[step] = _best_actions(quality, ties)
        value = np.where(ended, last_reward, quality.max(axis=1))
    return Policy(probabilities=probabilities)


def _best_actions(quality: Doubles, ties: Ties) -> Doubles:
    """Return the (S, A) probabilities of the best actions, given (S, A) values."""
    best = quality.max(axis=1, keepdims=True)
    tolerance = TIE * max(1.0, np.abs(quality).max())
    close = quality >= best - tolerance
    if ties == "uniform":
        n_best = close.sum(axis=1, keepdims=True)
        return np.asarray(close / n_best)

    return np.asarray(np.eye(quality.shape[1])[close.argmax(axis=1)])


def epsilon_greedy(
    policy: Policy,
    epsilon: float,
    rule: Literal["others", "all"] = "all",
) -> Policy:
    """Return a policy that errs with probability `epsilon`.

    Args:
        policy: the policy without errors.
        epsilon: probability of an error.
        rule: an error is drawn from "all" actions (the textbook's mixture with the
            uniform policy), or from the "others" than the one meant, each with epsilon
            / (A - 1). The values printed by MacDermott et al. (2024) follow from
            "others", where uniform choice is at epsilon = (A - 1) / A.

    Raises:
        ValueError: epsilon is no probability.
    """
    if not 0 <= epsilon <= 1:
        raise ValueError(f"epsilon: wanted a probability, got {epsilon}")
    meant = policy.probabilities
    n_actions = meant.shape[-1]
    if rule == "all":
        error = np.full_like(meant, 1 / n_actions)
    else:
        error = (1 - meant) / (n_actions - 1)
    return Policy(probabilities=(1 - epsilon) * meant + epsilon * error)


def unrolled(mdp: TabularMDP, horizon: int) -> TabularMDP:
    """Return the same world for `horizon` steps with the time in its state: (horizon +
    1) * S states. The model must have no terminal states.

    State index: time * S + state. The states of the last time are terminal and worth
    nothing. Labels are those of the state alone, since time is nothing to pursue.
    """
    n_times = horizon + 1
    is_last = np.arange(n_times) == horizon
    over = np.repeat(is_last, mdp.n_states)
    reward = np.concatenate([mdp.reward] * n_times)
    reward[over] = 0.0
    later_starts = np.zeros(horizon * mdp.n_states)

    # Every time leads to the next; the states of the last time stay as they are.
    onwards = diags_array(np.ones(horizon), offsets=1, shape=(n_times, n_times))
    stay = diags_array(over.astype(float))
    transition = []
    for matrix in mdp.transition:
        moved = kron(onwards, matrix)
        transition.append(csr_array(moved + stay))
    return TabularMDP(
        transition=tuple(transition),
        start=np.concatenate([mdp.start, later_starts]),
        reward=reward,
        terminal=over,
        discount=mdp.discount,
        actions=mdp.actions,
        labels={name: np.tile(values, n_times) for name, values in mdp.labels.items()},
    )
