"""The transition table that Gymnasium's toy-text environments have, as a Markov
decision process.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gde.data.mdp import TabularMDP
from gde.errors import GdeError

LEAVES_ALONE = (OrderEnforcing, PassiveEnvChecker, TimeLimit)
"""Wrappers that leave the dynamics of the table as they are."""
Step = tuple[int, int, float, int, float, bool]
"""State, action, probability, next state, reward, terminated."""


def mdp_of(
    environment: "gymnasium.Env[Any, Any]",
    actions: Sequence[str] = (),
    discount: float = 1.0,
) -> TabularMDP:
    """The decision process of a toy-text environment (FrozenLake, CliffWalking, Taxi),
    with its first states.

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
    """The decision process of an environment's table, with a uniform distribution of
    the first state.

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
    steps = list(_steps(table))
    terminal = np.zeros(n, dtype=bool)
    for *_, after, _, ended in steps:
        if ended:
            terminal[after] = True
    going = [step for step in steps if not terminal[step[0]]]

    # Whether an episode is over must be a fact about its state alone.
    starts = np.flatnonzero(getattr(layer, "initial_state_distrib", np.ones(n)))
    met = _reached(going, starts.tolist())
    for state, _, _, after, _, ended in going:
        if state in met and terminal[after] and not ended:
            return None

    reward = np.zeros((n, len(actions)))
    for state, a, p, _, earned, _ in going:
        reward[state, a] += p * earned
    by_action: list[list[Step]] = [[] for _ in actions]
    for step in going:
        by_action[step[1]].append(step)
    return TabularMDP(
        transition=tuple(_matrix(each, terminal) for each in by_action),
        start=np.full(n, 1 / n),
        reward=reward,
        terminal=terminal,
        discount=discount,
        actions=tuple(actions),
    )


def digest(mdp: TabularMDP) -> str:
    """Equal for equal processes, wherever they begin."""
    assert mdp.terminal is not None
    arrays = [mdp.reward, mdp.terminal]
    for matrix in mdp.transition:
        arrays += [matrix.indptr, matrix.indices, matrix.data]
    content = [np.ascontiguousarray(array).tobytes() for array in arrays]
    return sha256(b"\n".join(content)).hexdigest()[:16]


def _steps(table: Any) -> Iterator[Step]:
    for state in range(len(table)):
        for a in range(len(table[state])):
            for p, after, reward, ended in table[state][a]:
                if p > 0:
                    yield state, a, float(p), int(after), float(reward), bool(ended)


def _reached(steps: Sequence[Step], starts: Sequence[int]) -> set[int]:
    """The states that steps lead to from where episodes begin."""
    after: dict[int, set[int]] = defaultdict(set)
    for state, _, _, following, _, _ in steps:
        after[state].add(following)
    reached = set(starts)
    waiting = list(starts)
    while waiting:
        new = after[waiting.pop()] - reached
        reached |= new
        waiting.extend(new)
    return reached


def _matrix(steps: Sequence[Step], terminal: NDArray[np.bool_]) -> csr_array:
    """(S, S) probabilities of next states for one action; terminal states stay as they
    are.
    """
    n = len(terminal)
    ends = np.flatnonzero(terminal).tolist()
    states = [step[0] for step in steps] + ends
    after = [step[3] for step in steps] + ends
    p = [step[2] for step in steps] + [1.0] * len(ends)
    return csr_array(
        (np.array(p), (np.array(states, dtype=int), np.array(after, dtype=int))),
        shape=(n, n),
    )
