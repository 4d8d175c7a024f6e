"""p values adjusted for families of tests."""

from collections.abc import Callable, Sequence

import numpy as np

Adjustment = Callable[[Sequence[float]], tuple[float, ...]]


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p values after Holm (1979), in the given order.

    The i-th smallest of m p values becomes the largest of (m - j + 1) p_j over j <= i,
    at most 1. Rejecting those below alpha keeps the probability of any false rejection
    at alpha.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    multipliers = np.arange(len(p), 0, -1)
    corrected = p[order] * multipliers

    # No test may have a smaller adjusted p value than one that is more significant.
    increasing = np.maximum.accumulate(corrected)
    at_most_one = np.minimum(increasing, 1.0)

    adjusted = np.empty_like(p)
    adjusted[order] = at_most_one
    return tuple(adjusted.tolist())


def benjamini_hochberg(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjust p values after Benjamini and Hochberg (1995), in the given order.

    Of those below alpha, at most a share alpha is expected to be false. This holds for
    independent and for positively dependent tests, such as comparisons of several
    variations with the same worlds.
    """
    from scipy.stats import false_discovery_control

    # SciPy refuses an empty family.
    if not p_values:
        return ()
    adjusted = false_discovery_control(p_values)
    return tuple(adjusted.tolist())


def adjusted(
    p_values: Sequence[float | None], adjust: Adjustment
) -> tuple[float | None, ...]:
    """Adjust the p values that are not None.

    None stands for a test that was not made, which is no member of the family (Tarone
    1990).
    """
    made = [p for p in p_values if p is not None]
    remaining = iter(adjust(made))

    results: list[float | None] = []
    for p in p_values:
        if p is None:
            results.append(None)
        else:
            results.append(next(remaining))
    return tuple(results)
