"""A number against its control in the same worlds: exact tests of few worlds, quick ones
of many.
"""

import numpy as np
import pytest

from gde.numerics.controls import FLIPPED, compare_with_control
from gde.numerics.stats import paired_difference


def test_of_many_worlds_students_test_agrees_with_flipped_signs() -> None:
    rng = np.random.default_rng(3)
    ours = (rng.random(FLIPPED + 1) < 0.55).astype(float)
    control = rng.uniform(0.3, 0.6, (1, FLIPPED + 1))
    many = compare_with_control("random moves", ours, control, rng)
    assert many.assumes == "normal"
    flipped = paired_difference(ours, control[0], np.arange(FLIPPED + 1), rng)
    assert many.p is not None and flipped.p_value is not None
    assert many.p == pytest.approx(flipped.p_value, abs=0.02)
    assert many.interval == pytest.approx(flipped.estimate.interval, abs=0.01)
    assert many.detectable == pytest.approx(flipped.mde.value)
    few = compare_with_control("random moves", ours[1:], control[:, 1:], rng)
    assert few.assumes == ""


def test_of_many_worlds_that_all_differ_alike_nothing_is_divided_by_zero() -> None:
    ours = np.ones(FLIPPED + 9)
    control = np.full((1, FLIPPED + 9), 0.5)
    rng = np.random.default_rng(0)
    found = compare_with_control("random moves", ours, control, rng)
    assert found.p is not None and found.p < 0.001
