"""The difference from random initialisations, against Student's intervals by hand."""

import numpy as np
import pytest
from scipy.stats import sem, t

from gde.numerics.stats import difference_from_initialisations


def test_half_widths_over_worlds_and_initialisations_are_squared_and_added() -> None:
    rng = np.random.default_rng(13)
    ours = rng.normal(size=7)
    controls = rng.normal(loc=0.8, size=(4, 7))
    found = difference_from_initialisations(ours, controls)
    assert found is not None

    over_worlds = sem(ours - controls.mean(axis=0))
    # One more initialisation may lie this far from the mean of four.
    over_initialisations = np.std(controls.mean(axis=1), ddof=1) * np.sqrt(1 + 1 / 4)

    def half_width(p: float) -> float:
        level = 1 - p / 2
        return float(
            np.hypot(
                t.ppf(level, 6) * over_worlds, t.ppf(level, 3) * over_initialisations
            )
        )

    value = ours.mean() - controls.mean()
    assert found.value == pytest.approx(value)
    expected = (value - half_width(0.05), value + half_width(0.05))
    assert found.interval == pytest.approx(expected)
    assert half_width(found.p_value) == pytest.approx(abs(value), rel=1e-6)

    # A difference is found in four of five samples if it is this much further away.
    detectable = np.hypot(
        (t.ppf(0.975, 6) + t.ppf(0.8, 6)) * over_worlds,
        (t.ppf(0.975, 3) + t.ppf(0.8, 3)) * over_initialisations,
    )
    assert found.mde == pytest.approx(detectable)


def test_too_small_samples_are_refused() -> None:
    for shape in ((1, 6), (3, 5)):
        with pytest.raises(ValueError, match="wanted 6 clusters"):
            difference_from_initialisations(np.zeros(shape[1]), np.zeros(shape))
