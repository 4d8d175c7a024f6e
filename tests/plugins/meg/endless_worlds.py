"""Worlds whose episodes may not end: absorbing, periodic, unreachable and deterministic
parts. `python endless_worlds.py FIRST END` measures those of these seeds.
"""

import sys

import numpy as np

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg import known_utility, unknown_utility

N_ACTIONS = 3


def endless_world(seed: int) -> tuple[TabularMDP, Policy]:
    """Return a random world and a policy in it."""
    rng = np.random.default_rng(seed)
    n_states = int(rng.integers(3, 14))
    transition = np.zeros((N_ACTIONS, n_states, n_states))
    for action in range(N_ACTIONS):
        for state in range(n_states):
            match rng.integers(5):
                case 0:
                    transition[action, state, state] = 1
                case 1:
                    transition[action, state, (state + 1) % n_states] = 1
                case 2:
                    transition[
                        action, state, state ^ 1 if state ^ 1 < n_states else 0
                    ] = 1
                case 3:
                    transition[action, state, rng.integers(n_states)] = 1
                case _:
                    transition[action, state] = rng.dirichlet(np.full(n_states, 0.3))
    reward = rng.choice([0.0, -1.0, 1.0, 1e-9, 1e6], size=n_states)
    if rng.random() < 0.5:
        reward = rng.choice([0.0, -1.0], size=(n_states, N_ACTIONS))
    terminal = rng.random(n_states) < rng.choice([0.0, 0.2, 0.5])
    mdp = TabularMDP.of(
        transition,
        reward,
        start=int(rng.integers(n_states)),
        terminal=terminal,
        discount=float(rng.choice([1.0, 1.0, 1.0, 0.9, 1 - 1e-13])),
    )
    logits = rng.normal(size=(n_states, N_ACTIONS)) * rng.choice([1, 10, 100, 1e4])
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    return mdp, Policy(probabilities=chances / chances.sum(axis=1, keepdims=True))


def check(seed: int) -> bool:
    """Measure, and return whether there was a value; a refusal is one line."""
    mdp, policy = endless_world(seed)
    has_value = False
    for measure in (known_utility, unknown_utility):
        try:
            found = measure(mdp, policy, horizon=None)
        except ValueError as error:
            assert len(str(error)) > 20 and "\n" not in str(error)
            continue
        lower, upper = found.bounds
        assert 0 <= lower <= found.value <= upper
        assert np.isfinite(found.value)
        has_value = True
    return has_value


if __name__ == "__main__":
    found = 0
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        sys.stderr.write(f"seed {number}\n")
        found += check(number)
    sys.stdout.write(f"{found}\n")
