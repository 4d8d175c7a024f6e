"""The difference from random initialisations, against Student's intervals by hand."""

import numpy as np
import pytest
from scipy.stats import chi2, nct, sem, t

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


def test_the_detectable_difference_has_a_power_of_80_percent_in_students_test() -> None:
    """Without noise of worlds, the test is Student's with n - 1 degrees of freedom."""
    for n in (2, 3, 6):
        means = np.random.default_rng(n).normal(size=(n, 1))
        found = difference_from_initialisations(
            np.full(6, 3.0), np.repeat(means, 6, axis=1)
        )
        assert found is not None
        degrees = n - 1
        median = np.sqrt(chi2.ppf(0.5, degrees) / degrees)
        error = np.std(means, ddof=1) * np.sqrt(1 + 1 / n) / median
        power = nct.sf(t.ppf(0.975, degrees), degrees, found.mde / error)
        assert power == pytest.approx(0.8, abs=1e-3)


@pytest.mark.extended
@pytest.mark.parametrize(("n", "spread"), [(2, 1.0), (2, 0.0), (3, 1.0), (5, 1.0)])
def test_the_detectable_difference_is_found_in_four_of_five_samples(
    n: int, spread: float
) -> None:
    rng = np.random.default_rng(n)
    drawn = []
    for _ in range(300):
        means = rng.normal(scale=spread, size=(n + 1, 1))
        scores = means + rng.normal(size=(n + 1, 60))
        drawn.append((scores[0], scores[1:]))

    found = [difference_from_initialisations(*each) for each in drawn]
    effect = np.median([each.mde for each in found if each is not None])
    shown = []
    for ours, others in drawn:
        one = difference_from_initialisations(ours + effect, others)
        assert one is not None
        low, high = one.interval
        shown.append(low > 0 or high < 0)
    assert np.mean(shown) == pytest.approx(0.8, abs=0.07)


def test_too_small_samples_are_refused() -> None:
    for shape in ((1, 6), (3, 5)):
        with pytest.raises(ValueError, match="wanted 6 clusters"):
            difference_from_initialisations(np.zeros(shape[1]), np.zeros(shape))
