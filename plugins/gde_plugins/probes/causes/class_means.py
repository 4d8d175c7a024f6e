"""The difference of class means: how activations differ between places of a thing."""

import numpy as np

from gde.data.arrays import Ints
from gde.data.cell_map import Position
from gde_plugins.probes.causes.interventions import Direction

FEWEST = 5
"""Fewest prompts of a mean: of two or three, one odd prompt would set the direction."""


def difference_of_means(
    among: Direction, places: Ints, here: Position, there: Position
) -> Direction | None:
    """Return the mean activations with a thing at one place minus those at another.

    Few prompts have the thing in one cell. Means are therefore of the rows and of the
    columns, and their differences are added.

    Args:
        among: (N, tokens, width) activations of prompts.
        places: (N, 2) places of the thing.
        here: the place that is left.
        there: the place to go to.

    Returns:
        (tokens, width); None where a row or column has fewer than `FEWEST` prompts, or
        the means are equal.
    """
    difference = np.zeros(among.shape[1:], dtype=np.float32)
    for axis in (0, 1):
        if here[axis] == there[axis]:
            continue
        left = among[places[:, axis] == here[axis]]
        reached = among[places[:, axis] == there[axis]]
        if min(len(left), len(reached)) < FEWEST:
            return None
        difference += reached.mean(axis=0) - left.mean(axis=0)
    return difference if difference.any() else None
