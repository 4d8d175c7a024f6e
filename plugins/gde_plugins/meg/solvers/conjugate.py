"""Conjugate gradients that end as soon as what is left is good enough for the purpose."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gde.data.mdp import Floats


class Solved(NamedTuple):
    """An approximate solution x of A x = b."""

    step: Floats
    """x."""
    products: int
    """How often A was applied."""


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    easier: Callable[[Floats], Floats],
    wanted: Floats,
    enough: Callable[[Floats, Floats, int], bool],
    most: int,
) -> Solved:
    """Solve A x = b with A symmetric and nowhere negative.

    Args:
        product: A x.
        easier: about A^-1 b; it need not be linear to the last digit, as if it is itself found by iteration.
        wanted: b.
        enough: whether to stop, given x, b - A x and the number of products.
        most: products at most.
    """
    step, left = np.zeros_like(wanted), wanted.copy()
    direction = eased = easier(left)
    promise = float(left @ eased)
    for number in range(most):
        changed = product(direction)
        curvature = float(direction @ changed)
        if not (promise > 0 and curvature > 0):
            return Solved(step, number)  # nothing but rounding
        length = promise / curvature
        step += length * direction
        left -= length * changed
        if enough(step, left, number + 1):
            return Solved(step, number + 1)
        eased = easier(left)
        # Were `easier` exactly linear and symmetric, `changed @ eased` would say the same as the new promise.
        turned = -length * float(changed @ eased) / promise
        promise = float(left @ eased)
        direction = eased + turned * direction
    return Solved(step, most)
