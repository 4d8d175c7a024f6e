"""The difference of a trained model from several random initialisations.

The question is whether training made it: without, the model would be one more random
initialisation. So the error contains how far one more lies from the mean of the others,
which is more than the error of that mean. The other error is that over clusters. The
half-widths of both Student's intervals are squared and added ("square and add": Zou and
Donner 2008). Where the model is one more initialisation, a difference is found in about
5 % of simulations.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot, sqrt

import numpy as np
import scipy

from gde.data.arrays import Doubles
from gde.numerics.stats._differences import rounded
from gde.numerics.stats._estimates import CONFIDENCE, MINIMUM_CLUSTERS, Interval
from gde.numerics.stats._power import POWER

LEAST = 1e-12
"""Smaller p values are not told apart."""


@dataclass(frozen=True, kw_only=True)
class MixedDifference:
    """A mean difference with two sources of error: clusters and initialisations."""

    value: float
    interval: Interval
    p_value: float
    """Two-sided: one minus the confidence of the interval that ends at zero."""
    mde: float
    """Smallest difference found with a power of about 80 %."""


def difference_from_initialisations(a: Doubles, b: Doubles) -> MixedDifference | None:
    """The mean of a (G,) over clusters minus that of b (K, G) over clusters and
    initialisations, of which both are samples.

    The error over clusters is that of the difference from the mean initialisation. The
    one over initialisations is that of a further one from their mean (a prediction
    interval). It contains some noise of the clusters too: the sum is too large rather
    than too small. None where all numbers are the same.

    Raises:
        ValueError: fewer than six clusters or two initialisations.
    """
    K, G = b.shape
    if G < MINIMUM_CLUSTERS or K < 2:
        raise ValueError(
            f"wanted {MINIMUM_CLUSTERS} clusters and 2 initialisations, got {G} and {K}"
        )

    largest = float(max(np.abs(a).max(), np.abs(b).max()))
    differences = rounded(a - b.mean(axis=0), largest)
    means = rounded(b.mean(axis=1), largest)
    of_clusters = float(np.std(differences, ddof=1)) / sqrt(G)
    of_initialisations = float(np.std(means, ddof=1)) * sqrt(1 + 1 / K)
    value = float(differences.mean())
    if of_clusters == of_initialisations == 0:
        if not value:
            return None
        return MixedDifference(
            value=value, interval=(value, value), p_value=LEAST, mde=0.0
        )

    def half_width(confidence: float) -> float:
        level = (1 + confidence) / 2
        return hypot(
            scipy.special.stdtrit(G - 1, level) * of_clusters,
            scipy.special.stdtrit(K - 1, level) * of_initialisations,
        )

    half = half_width(CONFIDENCE)
    return MixedDifference(
        value=value,
        interval=(value - half, value + half),
        p_value=_p_value(lambda p: half_width(1 - p) - abs(value)),
        mde=hypot(
            _detectable_errors(G - 1) * of_clusters,
            _detectable_errors(K - 1) * of_initialisations,
        ),
    )


def _detectable_errors(degrees: int) -> float:
    """The difference, in estimated standard errors, that a t test finds with a power of
    80 %.

    It follows from the noncentral t distribution. An error that is estimated on few
    degrees of freedom is too small in most samples, so it is divided by its median.
    """
    critical = scipy.special.stdtrit(degrees, (1 + CONFIDENCE) / 2)
    median = sqrt(scipy.special.chdtri(degrees, 0.5) / degrees)
    return float(scipy.special.nctdtrinc(degrees, 1 - POWER, critical)) / median


def _p_value(excess: Callable[[float], float]) -> float:
    """The p at which the interval of confidence 1 - p ends at zero.

    Args:
        excess: half the interval of confidence 1 - p, less the difference.
    """
    if excess(LEAST) <= 0:
        return LEAST
    return float(scipy.optimize.brentq(excess, LEAST, 1.0))


def initialisation_error(values: Doubles) -> float:
    """Half of Student's interval of the mean of values (K,) over initialisations.

    Raises:
        ValueError: fewer than two values.
    """
    K = len(values)
    if K < 2:
        raise ValueError(f"wanted two initialisations, got {K}")
    level = (1 + CONFIDENCE) / 2
    return float(scipy.special.stdtrit(K - 1, level) * np.std(values, ddof=1)) / sqrt(K)
