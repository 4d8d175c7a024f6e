"""Many tests at once: adjusted p values."""

from collections.abc import Callable, Sequence

import numpy as np

Adjustment = Callable[[Sequence[float]], tuple[float, ...]]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values in the order given (Holm 1979): rejecting those below alpha keeps the family error at alpha."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return tuple(adjusted.tolist())


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p values in the order given (Benjamini and Hochberg 1995).

    Of those below alpha, at most a share alpha is expected to be false, for tests that are independent or positively
    dependent, as comparisons of several variations with the same worlds are.
    """
    from scipy.stats import false_discovery_control

    return tuple(false_discovery_control(p_values).tolist()) if p_values else ()


def adjusted(p_values: Sequence[float | None], adjust: Adjustment) -> tuple[float | None, ...]:
    """As `adjust`, with None for tests that were not made: they are no members of the family (Tarone 1990)."""
    found = iter(adjust([p for p in p_values if p is not None]))
    return tuple(None if p is None else next(found) for p in p_values)
