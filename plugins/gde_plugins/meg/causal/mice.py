"""The mice of MacDermott et al. (2024), Examples 1 and 2."""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.diagram import Diagram, chance, decision

LEFT, RIGHT = 0, 1
PLACES = 5
"""Cells of Example 2, in a row; the mouse begins in the middle and the cheese lies at
one of the ends.
"""


def mouse(accuracy: float = 1.0) -> Diagram:
    """Make Example 1: cheese to the left or right (S), the mouse goes left or right
    (D), and gets it or not (T).

    Args:
        accuracy: probability of going towards the cheese.
    """
    sides = [0.5, 0.5]
    # The mouse gets the cheese where S and D are equal.
    same = np.eye(2)
    gets = np.stack([1 - same, same], axis=-1)
    return Diagram(
        chance("S", sides),
        decision("D", _towards(accuracy), ["S"]),
        chance("T", gets, ["S", "D"]),
    )


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

    end = np.where(side == RIGHT, last, 0)
    has_it = (place == end).astype(int)
    policy = _towards(accuracy)
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


def _towards(accuracy: float) -> Floats:
    """Return the (sides, moves) policy of going to the perceived side."""
    away = 1 - accuracy
    return np.array([[accuracy, away], [away, accuracy]])
