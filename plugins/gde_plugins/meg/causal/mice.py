"""The mice of MacDermott et al. (2024), Examples 1 and 2."""

import numpy as np

from gde_plugins.meg.causal.diagram import Diagram, chance, decision

LEFT, RIGHT = 0, 1
PLACES = 5
"""Cells of Example 2, in a row; the mouse begins in the middle and the cheese lies at one of the ends."""


def mouse(accuracy: float = 1.0) -> Diagram:
    """Example 1: cheese to the left or right (S), the mouse goes left or right (D), and gets it or not (T).

    Args:
        accuracy: probability of going towards the cheese.
    """
    gets = np.eye(2)[:, :, None] * [0, 1] + (1 - np.eye(2))[:, :, None] * [1, 0]
    return Diagram(
        chance("S", [0.5, 0.5]),
        decision("D", _towards(accuracy), ["S"]),
        chance("T", gets, ["S", "D"]),
    )


def forgetful_mouse(accuracy: float = 1.0) -> Diagram:
    """Example 2: a mouse that smells (O1, O2) on which side the cheese is, twice, and moves (D1, D2), without recall.

    The state S1, S2, S3 is 2 * the mouse's place + the cheese's side, of which it sees nothing; C3 says whether it has
    the cheese in the end.

    Args:
        accuracy: probability of moving towards the smell, both times.
    """
    place, side = np.divmod(np.arange(2 * PLACES), 2)
    begun = (place == PLACES // 2) / 2
    moved = [2 * np.clip(place + way, 0, PLACES - 1) + side for way in (-1, 1)]
    moves = np.stack([np.eye(2 * PLACES)[state] for state in moved], axis=1)
    has_it = np.where(side == RIGHT, place == PLACES - 1, place == 0).astype(int)
    smells = np.eye(2)[side]
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


def _towards(accuracy: float) -> list[list[float]]:
    return [[accuracy, 1 - accuracy], [1 - accuracy, accuracy]]
