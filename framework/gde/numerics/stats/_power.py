"""The smallest difference that a design can detect."""

from math import sqrt

import numpy as np
import scipy

from gde.data.arrays import Doubles
from gde.data.verdict import ALPHA
from gde.numerics.stats._finding import Finding

POWER = 0.8


def minimum_detectable(standard_error: float, degrees: float) -> float:
    """The difference that a two-sided test finds with a power of 80 % (Bloom 1995).

    It is (t[1 - alpha / 2] + t[power]) standard errors, with Student's t on `degrees`
    of freedom. Alpha is that of a single test. Holm's correction over m tests needs
    alpha / m in the worst case.

    Raises:
        ValueError: `degrees` below 1.
    """
    if degrees < 1:
        raise ValueError(f"degrees of freedom must be at least 1, got {degrees}")
    for_significance = scipy.special.stdtrit(degrees, 1 - ALPHA / 2)
    for_power = scipy.special.stdtrit(degrees, POWER)
    return float((for_significance + for_power) * standard_error)


def minimum_detectable_of(values: Doubles) -> Finding:
    """The minimum detectable mean of a group (G,), by its observed variance."""
    G = len(values)
    # A single cluster has no variance.
    if G < 2:
        return Finding.missing("1 cluster", "2")
    error = sqrt(float(np.var(values, ddof=1)) / G)
    if error == 0:
        return Finding(reason="not measured: the values do not vary")
    return Finding(value=minimum_detectable(error, G - 1))
