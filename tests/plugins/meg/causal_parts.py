"""Diagrams for the tests: drawn at random, or written out from a Markov decision
process.
"""

from typing import Any

import numpy as np

from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.causal import Diagram, Node, chance, decision, utility


def random_network(
    rng: np.random.Generator, n: int = 5, deterministic: bool = False
) -> Diagram:
    """Variables V0, V1, ... with two or three values and up to three parents among the
    earlier ones.
    """
    sizes = rng.integers(2, 4, size=n)
    nodes = []
    for i, size in enumerate(sizes):
        parents = [j for j in range(i) if rng.random() < 0.5][-3:]
        table = rng.dirichlet(np.full(size, 0.6), size=tuple(sizes[j] for j in parents))
        if deterministic:
            table = np.eye(size)[table.argmax(axis=-1)]
        nodes.append(chance(f"V{i}", table, [f"V{j}" for j in parents]))
    return Diagram(*nodes)


def some(rng: np.random.Generator, names: list[str]) -> list[str]:
    """A random set of them that is not empty."""
    chosen = [name for name in names if rng.random() < 0.5]
    return chosen or [str(rng.choice(names))]


def mdp_diagram(mdp: TabularMDP, policy: Policy, horizon: int) -> Diagram:
    """Definition 5.1: a state, a decision on it and a utility of it for every step."""
    moves = np.stack([matrix.toarray() for matrix in mdp.transition], axis=1)
    nodes: list[Node] = []
    for t in range(horizon):
        before: Any = [f"S{t - 1}", f"D{t - 1}"] if t else []
        nodes += [
            chance(f"S{t}", moves if t else mdp.start, before),
            decision(f"D{t}", policy.probabilities[t], [f"S{t}"]),
            utility(f"U{t}", mdp.reward, [f"S{t}"]),
        ]
    return Diagram(*nodes)
