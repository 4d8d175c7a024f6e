"""The transition tables of Gymnasium's toy-text environments as MDPs."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from scipy.sparse import csr_array

from gde.data.mdp import TabularMDP
from gde.errors import GdeError

LEAVES_ALONE = (OrderEnforcing, PassiveEnvChecker, TimeLimit)
"""Wrappers that leave the dynamics of the table as they are."""


def mdp_of(
    environment: "gymnasium.Env[Any, Any]",
    actions: Sequence[str] = (),
    discount: float = 1.0,
) -> TabularMDP:
    """The decision process of a toy-text environment, with its first states.

    Toy-text environments are FrozenLake, CliffWalking and Taxi.

    Args:
        environment: made by `gymnasium.make`; a limit of steps has no effect.
        actions: their names; none for their numbers.
        discount: of future rewards.

    Raises:
        GdeError: it has no table of transitions, or one that no decision process of
            states alone has.
    """
    count = int(getattr(environment.action_space, "n", 0))
    if len(actions) not in {0, count}:
        raise GdeError(
            f"{environment}: wanted {count} names of actions, got {len(actions)}"
        )
    mdp = tabulate(environment, actions or [str(a) for a in range(count)], discount)
    if mdp is None:
        wanted = "an environment with a table of transitions `P`, like FrozenLake's, and no wrapper that changes it"
        raise GdeError(f"{environment}: wanted {wanted}")
    start = getattr(environment.unwrapped, "initial_state_distrib", mdp.start)
    return replace(mdp, start=np.asarray(start, dtype=np.float64))


def tabulate(
    environment: "gymnasium.Env[Any, Any]", actions: Sequence[str], discount: float
) -> TabularMDP | None:
    """The decision process of a table, with a uniform first state.

    `P[state][action]` of the environment lists (probability, next state, reward,
    terminated). None where there is no such table, where a wrapper may change what it
    says, or where an episode ends in a state that other episodes pass through.
    """
    layer = environment
    while isinstance(layer, gymnasium.Wrapper):
        if not isinstance(layer, LEAVES_ALONE):
            return None
        layer = layer.env
    table = getattr(layer, "P", None)
    if table is None:
        return None

    n = len(table)
    steps: list[tuple[int, int, float, int, float, bool]] = []
    for state in range(n):
        for a in range(len(table[state])):
            steps += [(state, a, *step) for step in table[state][a] if step[0] > 0]
    states, taken, p, after, earned, ended = map(np.asarray, zip(*steps, strict=True))
    terminal = np.zeros(n, dtype=bool)
    terminal[after[ended.astype(bool)]] = True
    going = ~terminal[states]

    # Whether an episode is over must be a fact about its state alone.
    met = np.asarray(getattr(layer, "initial_state_distrib", np.ones(n))) > 0
    count = 0
    while met.sum() > count:
        count = met.sum()
        met[after[going & met[states]]] = True
    if (going & met[states] & terminal[after] & ~ended.astype(bool)).any():
        return None

    reward = np.zeros((n, len(actions)))
    np.add.at(reward, (states[going], taken[going]), p[going] * earned[going])
    # Terminal states stay as they are.
    ends = np.flatnonzero(terminal)
    transition = []
    for a in range(len(actions)):
        of_action = going & (taken == a)
        values = np.concatenate([p[of_action], np.ones(len(ends))])
        rows = np.concatenate([states[of_action], ends])
        columns = np.concatenate([after[of_action], ends])
        transition.append(csr_array((values, (rows, columns)), shape=(n, n)))
    return TabularMDP(
        transition=tuple(transition),
        start=np.full(n, 1 / n),
        reward=reward,
        terminal=terminal,
        discount=discount,
        actions=tuple(actions),
    )


def ends_that_earn(environment: "gymnasium.Env[Any, Any]") -> bool:
    """Whether a table of transitions has an end with a positive reward."""
    for actions in environment.unwrapped.P.values():  # type: ignore[attr-defined]  # it has a table
        for steps in actions.values():
            if any(ended and p > 0 and reward > 0 for p, _, reward, ended in steps):
                return True
    return False


def digest(mdp: TabularMDP) -> str:
    """Equal for equal processes, wherever they begin."""
    assert mdp.terminal is not None
    arrays = [mdp.reward, mdp.terminal]
    for matrix in mdp.transition:
        arrays += [matrix.indptr, matrix.indices, matrix.data]
    content = [np.ascontiguousarray(array).tobytes() for array in arrays]
    return sha256(b"\n".join(content)).hexdigest()[:16]
