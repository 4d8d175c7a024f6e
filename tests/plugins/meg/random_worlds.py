"""Small random models and policies, of every kind that MEG is defined for."""

from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from gde import Policy, TabularMDP

Kind = Literal["endless", "discounted", "episodic"]
KINDS: tuple[Kind, ...] = ("endless", "discounted", "episodic")


def random_mdp(
    seed: int,
    kind: Kind,
    n_states: int = 5,
    n_actions: int = 3,
    on_actions: bool = False,
) -> TabularMDP:
    """A model in which any state may follow; an episodic one ends in its last state and
    every step costs something.
    """
    rng = np.random.default_rng(seed)
    dense = rng.dirichlet(np.full(n_states, 0.5), size=(n_actions, n_states))
    dense = 0.95 * dense + 0.05 / n_states
    reward = rng.normal(size=(n_states, n_actions) if on_actions else n_states)
    ends = np.arange(n_states) == n_states - 1
    return TabularMDP(
        transition=tuple(csr_array(matrix) for matrix in dense),
        start=rng.dirichlet(np.ones(n_states)),
        reward=reward - 3 if kind == "episodic" else reward,
        terminal=ends if kind == "episodic" else None,
        discount=0.8 if kind == "discounted" else 1.0,
    )


def random_policy(
    seed: int, mdp: TabularMDP, horizon: int | None = None, concentration: float = 0.5
) -> Policy:
    """A stationary policy, or one that depends on time; the lower the concentration,
    the more deterministic.
    """
    rng = np.random.default_rng(seed + 1000)
    shape = (mdp.n_states,) if horizon is None else (horizon, mdp.n_states)
    return Policy(
        probabilities=rng.dirichlet(np.full(mdp.n_actions, concentration), size=shape)
    )


def uniform(mdp: TabularMDP) -> Policy:
    return Policy(
        probabilities=np.full((mdp.n_states, mdp.n_actions), 1 / mdp.n_actions)
    )


def horizons(kind: Kind) -> tuple[int | None, ...]:
    """A finite horizon, and none where episodes end by themselves."""
    return (4,) if kind == "endless" else (4, None)


CASES: list[tuple[Kind, int | None]] = [
    (kind, horizon) for kind in KINDS for horizon in horizons(kind)
]
"""Kinds of models with the horizons that they allow."""
