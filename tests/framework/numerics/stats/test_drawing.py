"""Drawn sums have the distribution of their definition, whether values or numbers of equal
values are drawn, in blocks of any size.
"""

from collections.abc import Callable
from itertools import product
from math import comb

import numpy as np
import pytest

from gde.numerics.stats import (
    _differences,
    _drawing,
    cluster_ratio,
    sign_flip,
)
from gde.numerics.stats._drawing import flipped, resampled

FEW = np.repeat([0.0, 1.0, 2.5], 8)
EACH_DIFFERS = np.linspace(-1, 3, 24)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("at_once", [1, 30, 2**20])
def test_values_are_drawn_one_by_one_in_blocks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(_drawing, "DRAWN_AT_ONCE", at_once)
    pairs = rng(1).random(7) + 1j * rng(2).random(7)
    drawn = rng().integers(7, size=(50, 7), dtype=np.int32)
    assert resampled(pairs, rng(), 50) == pytest.approx(pairs[drawn].sum(axis=1))


@pytest.mark.parametrize("at_once", [1, 30, 1000])
def test_numbers_are_drawn_in_blocks_of_any_size(
    monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(_drawing, "DRAWN_AT_ONCE", at_once)
    drawn = rng().multinomial(24, [1 / 3] * 3, size=50)
    assert resampled(FEW, rng(), 50).tolist() == (drawn * FEW[::8]).sum(axis=1).tolist()
    signs = 2 * rng().binomial(8, 0.5, size=(50, 3)) - 8
    assert flipped(FEW, rng(), 50).tolist() == (signs * FEW[::8]).sum(axis=1).tolist()


@pytest.mark.parametrize("values", [FEW, EACH_DIFFERS])
def test_resampled_pairs_have_the_moments_of_draws_with_replacement(
    monkeypatch: pytest.MonkeyPatch, values: np.ndarray
) -> None:
    monkeypatch.setattr(_drawing, "DRAWN_AT_ONCE", 1000)
    others = values**2
    sums = resampled(values + 1j * others, rng(), 200_000)
    expected = len(values) * np.cov(values, others, bias=True)
    scale = np.sqrt(np.diag(expected))
    means = np.array([values.sum(), others.sum()])
    assert np.abs(np.array([sums.real.mean(), sums.imag.mean()]) - means).max() < (
        0.01 * scale.max()
    )
    found = np.cov(sums.real, sums.imag)
    assert found / np.outer(scale, scale) == pytest.approx(
        expected / np.outer(scale, scale), abs=0.02
    )


@pytest.mark.parametrize("equal", [8, 1000])
def test_random_signs_have_the_distribution_of_all_signs(
    monkeypatch: pytest.MonkeyPatch, equal: int
) -> None:
    monkeypatch.setattr(_drawing, "EQUAL", equal)
    sizes = np.array([1.0] * 8 + [3.0] * 8)
    sums = flipped(sizes, rng(), 100_000)
    ones = {2 * k - 8: comb(8, k) / 2**8 for k in range(9)}
    exact = dict.fromkeys(range(-32, 33), 0.0)
    for a, b in product(ones, repeat=2):
        exact[a + 3 * b] += ones[a] * ones[b]
    for total, chance in exact.items():
        assert (sums == total).mean() == pytest.approx(chance, abs=0.005)


def with_and_without_scipy(
    monkeypatch: pytest.MonkeyPatch, test: Callable[[], float | None]
) -> tuple[float, float]:
    theirs = test()
    monkeypatch.setattr(_differences, "SCIPYS", 0)
    ours = test()
    monkeypatch.undo()
    assert theirs is not None and ours is not None
    return theirs, ours


@pytest.mark.parametrize("kind", ["hits", "tenths", "distinct"])
def test_many_values_have_the_p_values_that_scipy_gives_few(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    draw = {
        "hits": lambda G: rng(G).integers(-1, 2, G) * 1.0,
        "tenths": lambda G: rng(G).integers(-4, 6, G) / 10,
        "distinct": lambda G: rng(G).normal(0.2, 1, G),
    }[kind]
    seen = []
    for G in range(90, 140, 5):
        pair = with_and_without_scipy(
            monkeypatch, lambda G=G: sign_flip(draw(G), rng()).p_value
        )
        seen.append(pair)
    theirs, ours = np.array(seen).T
    assert theirs.min() < 0.3 and theirs.max() > 0.3
    # Five standard errors of 9,999 permutations, of twice a tail, twice.
    error = 5 * 2 * np.sqrt(theirs * (1 - theirs / 2) / 2 / 9999) * np.sqrt(2)
    assert (np.abs(theirs - ours) <= error + 2e-4).all()


def test_a_difference_that_ties_with_all_its_flips_is_no_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_differences, "SCIPYS", 0)
    # A sum of zero lies in both tails, whatever rounding makes of it.
    differences = np.array([0.1, 0.2, -0.3] * 20)
    assert differences.sum() != 0
    assert sign_flip(differences, rng()).p_value == 1
    assert sign_flip(np.full(40, 0.1), rng()).p_value == 2 / 10_000


def test_bounds_of_drawn_numbers_scatter_about_those_of_drawn_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    above = np.repeat([0.0, 1.0, 3.0], [20, 50, 30])
    below = np.repeat([4.0, 4.0, 5.0], [20, 50, 30])

    def bounds() -> np.ndarray:
        found = [
            cluster_ratio(above, below, range(100), rng(seed)).interval
            for seed in range(30)
        ]
        return np.array(found)

    by_value = bounds()
    monkeypatch.setattr(_drawing, "DRAWN_AT_ONCE", 1)
    by_number = bounds()
    assert (by_value != by_number).all()
    width = float(np.ptp(by_value.mean(axis=0)))
    assert by_number.mean(axis=0) == pytest.approx(
        by_value.mean(axis=0), abs=0.02 * width
    )
    assert by_number.std(axis=0).max() < 0.03 * width
