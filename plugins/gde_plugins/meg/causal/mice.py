"""The mouse of MacDermott et al. (2024), Example 1."""

import numpy as np

from gde.data.mdp import Floats
from gde_plugins.meg.causal.diagram import Diagram, chance, decision


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


def _towards(accuracy: float) -> Floats:
    """Return the (sides, moves) policy of going to the perceived side."""
    away = 1 - accuracy
    return np.array([[accuracy, away], [away, accuracy]])
