"""p values adjusted for families of tests."""

from collections.abc import Callable, Sequence

import numpy as np

Adjustment = Callable[[Sequence[float]], tuple[float, ...]]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p values after Holm (1979), in the given order.

    The i-th smallest of m p values becomes the largest of (m - j + 1) p_j over j <= i, at most 1. Rejecting those below
    alpha keeps the probability of any false rejection at alpha.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    multipliers = np.arange(len(p), 0, -1)
    increasing = np.maximum.accumulate(p[order] * multipliers)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(increasing, 1.0)
    return tuple(adjusted.tolist())


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p values after Benjamini and Hochberg (1995), in the given order.

    Of those below alpha, at most a share alpha is expected to be false. This holds for independent and for positively
    dependent tests, such as comparisons of several variations with the same worlds.
    """
    from scipy.stats import false_discovery_control

    return tuple(false_discovery_control(p_values).tolist()) if p_values else ()


def adjusted(p_values: Sequence[float | None], adjust: Adjustment) -> tuple[float | None, ...]:
    """Adjust the p values that are not None.

    None stands for a test that was not made, which is no member of the family (Tarone 1990).
    """
    made = [p for p in p_values if p is not None]
    found = iter(adjust(made))
    return tuple(None if p is None else next(found) for p in p_values)
