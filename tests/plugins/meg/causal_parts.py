"""Diagrams for the tests: drawn at random, or written out from a Markov decision
process.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gde.data.arrays import Doubles
from gde.data.mdp import Policy, TabularMDP
from gde_plugins.meg.causal import Diagram, Node, chance, decision, utility
from gde_plugins.meg.causal.inference import contract, family


def joint(diagram: Diagram, names: Sequence[str]) -> Doubles:
    """P(names) with decisions made by their policies, one axis for each name."""
    variables = [*diagram.names("chance"), *diagram.decisions]
    return contract([family(diagram, name) for name in variables], names)


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


PLACES = 5
"""Cells of Example 2, in a row; the mouse begins in the middle and the cheese lies at
one of the ends.
"""


def forgetful_mouse(accuracy: float = 1.0) -> Diagram:
    """Make Example 2: a mouse without recall smells on which side the cheese is (O1,
    O2) and moves (D1, D2), twice.

    The state S1, S2, S3 is 2 * the mouse's place + the cheese's side, of which it sees
    nothing; C3 says whether it has the cheese in the end.

    Args:
        accuracy: probability of moving towards the smell, both times.
    """
    n_states = 2 * PLACES
    place, side = np.divmod(np.arange(n_states), 2)
    begun = (place == PLACES // 2) / 2
    smells = np.eye(2)[side]

    # (states, moves, states): a move beyond an end leaves the mouse where it is.
    last = PLACES - 1
    to_left = 2 * np.clip(place - 1, 0, last) + side
    to_right = 2 * np.clip(place + 1, 0, last) + side
    identity = np.eye(n_states)
    moves = np.stack([identity[to_left], identity[to_right]], axis=1)

    end = np.where(side == 1, last, 0)
    has_it = (place == end).astype(int)
    policy = np.array([[accuracy, 1 - accuracy], [1 - accuracy, accuracy]])
    return Diagram(
        chance("S1", begun),
        chance("O1", smells, ["S1"]),
        decision("D1", policy, ["O1"]),
        chance("S2", moves, ["S1", "D1"]),
        chance("O2", smells, ["S2"]),
        decision("D2", policy, ["O2"]),
        chance("S3", moves, ["S2", "D2"]),
        chance("C3", np.eye(2)[has_it], ["S3"]),
    )
