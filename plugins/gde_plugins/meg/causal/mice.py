"""The mouse of MacDermott et al. (2024), Example 1."""

from gde_plugins.meg.causal.diagram import Diagram
from gde_plugins.meg.causal.functions import from_functions


def mouse(accuracy: float = 1.0) -> Diagram:
    """Make Example 1: cheese to the left or right (S), the mouse goes left or right
    (D), and gets it or not (T).

    Args:
        accuracy: probability of going towards the cheese.
    """
    return from_functions(
        {
            "S": [0, 1],
            "D": lambda S: {S: accuracy, 1 - S: 1 - accuracy},
            "T": lambda S, D: int(S == D),
        },
        decisions=["D"],
    )
