"""Random models and policies, to measure solvers in."""

import numpy as np
from scipy.sparse import csr_array

from gde import Policy, TabularMDP
from gde_plugins.meg.solvers.finite_horizon import check_horizon


def random_mdp(
    rng: np.random.Generator,
    n_states: int,
    n_actions: int,
    *,
    successors: int = 3,
    n_terminal: int = 0,
) -> TabularMDP:
    """Draw a model: Dirichlet transitions to random states, normal rewards (S,), a
    Dirichlet start.

    Args:
        rng: source of everything random.
        n_states: S.
        n_actions: A.
        successors: number of states that each action can lead to, at most S.
        n_terminal: number of terminal states, which come last.
    """
    # Every row of a matrix has the same number of entries, so the rows end at regular
    # places.
    reached = min(successors, n_states)
    ends = np.arange(0, n_states * reached + 1, reached)
    transition = []
    for _ in range(n_actions):
        targets = [
            rng.choice(n_states, size=reached, replace=False) for _ in range(n_states)
        ]
        chances = rng.dirichlet(np.ones(reached), size=n_states).ravel()
        entries = (chances, np.concatenate(targets), ends)
        transition.append(csr_array(entries, shape=(n_states, n_states)))

    terminal = np.arange(n_states) >= n_states - n_terminal
    start = np.zeros(n_states)
    start[~terminal] = rng.dirichlet(np.ones(n_states - n_terminal))
    return TabularMDP(
        transition=tuple(transition),
        start=start,
        reward=rng.normal(size=n_states),
        terminal=terminal if n_terminal else None,
    )


def random_policy(
    rng: np.random.Generator, mdp: TabularMDP, horizon: int | None = None
) -> Policy:
    """Draw a policy (S, A), or (T, S, A) for a `horizon`, with every row uniform on the
    simplex.

    Raises:
        ValueError: the horizon is not positive.
    """
    shape: tuple[int, ...] = (mdp.n_states,)
    if horizon is not None:
        check_horizon(horizon)
        shape = (horizon, mdp.n_states)
    # All concentrations at one: the uniform distribution on the simplex.
    concentration = np.ones(mdp.n_actions)
    return Policy(probabilities=rng.dirichlet(concentration, size=shape))
