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
    found = exchange_replicates(
        [1, 1, 2, 2, 4, 4, 1, 9],
        [0, 0, 1, 1, 0, 0, 1, 0],
        [0, 0, 0, 0, 1, 1, 1, 2],
        rng(),
    )
    assert found.value == pytest.approx((1 + 9) / 2)


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
