"""Exchanging replicates within clusters finds effects that cancel in the mean, and
holds its level.
"""

import numpy as np
import pytest

from gde.numerics.stats import exchange_replicates, paired_difference

VARIED = np.tile(np.repeat([False, True], 5), 30)
CLUSTERS = np.repeat(np.arange(30), 10)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def values(
    effects: np.typing.NDArray[np.float64], seed: int
) -> np.typing.NDArray[np.float64]:
    """(300,) five replicates of each condition in 30 clusters, whose own levels
    differ.
    """
    noise = rng(seed)
    return (
        np.repeat(noise.normal(size=30), 10)
        + VARIED * np.repeat(effects, 10)
        + noise.normal(size=300)
    )


def test_effects_that_cancel_in_the_mean_are_found() -> None:
    mixed = values(np.tile([1.5, -1.5], 15), 1)
    assert (exchange_replicates(mixed, VARIED, CLUSTERS, rng()).p_value or 1) < 0.01
    assert (
        paired_difference(
            mixed[VARIED], mixed[~VARIED], CLUSTERS[VARIED], rng()
        ).p_value
        or 0
    ) > 0.05


def test_the_level_is_held() -> None:
    found = [
        exchange_replicates(values(np.zeros(30), seed), VARIED, CLUSTERS, rng(seed), 39)
        for seed in range(400)
    ]
    assert np.mean([(one.p_value or 1) <= 0.05 for one in found]) == pytest.approx(
        0.05, abs=0.025
    )


def test_the_statistic_is_the_mean_square_over_clusters_that_have_both() -> None:
    # Differences 1 and -3; the third cluster has one condition alone.
    values, clusters = [1, 1, 2, 2, 4, 4, 1, 9], [0, 0, 0, 0, 1, 1, 1, 2]
    varied = np.array([0, 0, 1, 1, 0, 0, 1, 0])
    for condition in (varied, 1 - varied):
        found = exchange_replicates(values, condition, clusters, rng())
        assert found.value == pytest.approx((1 + 9) / 2)


@pytest.mark.parametrize("unit", [1e-8, 0.1, 1e6])
def test_the_unit_of_the_values_does_not_matter(unit: float) -> None:
    """Whole numbers tie exactly, so their multiples must tie, too."""
    whole = rng(2).integers(-3, 4, 48).astype(float)
    varied, clusters = np.tile([0, 0, 1, 1], 12), np.repeat(np.arange(12), 4)
    exact = exchange_replicates(whole, varied, clusters, rng())
    found = exchange_replicates(unit * whole, varied, clusters, rng())
    assert found.p_value == exact.p_value
    assert found.value == pytest.approx((exact.value or 0) * unit**2, rel=1e-9, abs=0)


def test_small_differences_of_large_values_are_kept() -> None:
    values = 1000 + 0.01 * np.tile([0, 0, 1, 1], 12)
    clusters = np.repeat(np.arange(12), 4)
    found = exchange_replicates(values, np.tile([0, 0, 1, 1], 12), clusters, rng())
    assert found.value == pytest.approx(1e-4, rel=0.02)
    # The least that 999 permutations can show.
    assert found.p_value == 1 / 1000


def test_equal_values_show_nothing() -> None:
    assert (
        exchange_replicates(np.full(300, 0.1), VARIED, CLUSTERS, rng()).p_value == 1.0
    )


def test_single_replicates_cannot_tell() -> None:
    found = exchange_replicates([1, 2, 3, 4], [0, 1, 0, 1], [0, 0, 1, 1], rng())
    assert (
        found.reason == "not measured: 1 replicate of a condition in a cluster, needs 2"
    )
    with pytest.raises(ValueError, match="must be finite"):
        exchange_replicates([np.nan] * 300, VARIED, CLUSTERS, rng())
