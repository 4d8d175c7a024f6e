"""Comparison of a share with what is expected of chance in the same worlds."""

from dataclasses import replace
from math import ceil, floor

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv

from gde.data.arrays import Doubles
from gde.data.verdict import ALPHA, Verdict
from gde.numerics.stats import POWER, clopper_pearson
from gde.numerics.verdicts import untested

ROUNDING = 1e-9


def compare_with_expected(control: str, ours: Doubles, expected: Doubles) -> Verdict:
    """Test the mean of shares against a known expectation, without correction.

    What is expected in a world is known exactly, so the worlds' shares alone are a
    sample. Their sum is at most as spread as a binomial count of the same mean
    (Hoeffding 1956), whose exact test is taken: two-sided by the doubled smaller tail,
    a fractional sum rounded towards the expectation. It holds for few worlds and rare
    success, where differences are far from symmetric, and speaks of these worlds.

    Args:
        control: its name.
        ours: (G,) the share in each world, in [0, 1].
        expected: (G,) what is expected there.
    """
    n = len(ours)
    chance = float(np.clip(expected.mean(), 0.0, 1.0)) if n else 0.0
    difference = float(ours.mean()) - chance if n else 0.0
    verdict = untested(control, difference, n)
    if verdict.reason:
        return verdict
    if not 0 <= ours.min() <= ours.max() <= 1:
        return replace(verdict, reason="its values are no shares between 0 and 1")

    total = float(ours.sum())
    at_least, at_most = floor(total + ROUNDING), ceil(total - ROUNDING)
    # Of a binomial count: at least so many, at most so many.
    above = float(bdtrc(at_least - 1, n, chance))
    below = float(bdtr(at_most, n, chance))
    low, _ = clopper_pearson(at_least / n, n)
    _, high = clopper_pearson(at_most / n, n)
    return replace(
        verdict,
        interval=(low - chance, high - chance),
        p=min(1.0, 2 * min(above, below)),
        detectable=_detectable(n, chance),
    )


def _detectable(n: int, chance: float) -> float | None:
    """How far above chance a share must be for a power of 80 %; None where none is."""
    more_than_each = bdtrc(np.arange(n), n, chance)
    least = int((more_than_each > ALPHA / 2).sum()) + 1
    if least > n:
        return None
    return float(betaincinv(least, n - least + 1, POWER)) - chance
