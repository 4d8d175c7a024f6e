"""Conjugate gradients that stop when told."""

import numpy as np
import pytest

from gde_plugins.meg.solvers.concave import conjugate_gradients

ZERO = np.zeros(12)


def system(rank: int) -> tuple[np.ndarray, np.ndarray]:
    """A symmetric matrix of this rank, and a right-hand side in its range."""
    rng = np.random.default_rng(rank)
    factor = rng.normal(size=(12, rank))
    matrix = factor @ factor.T
    return matrix, matrix @ rng.normal(size=12)


@pytest.mark.parametrize("rank", [12, 5])
def test_the_system_is_solved_also_where_it_is_singular(rank: int) -> None:
    matrix, wanted = system(rank)
    scale = 1 / np.diag(matrix)
    products = []

    def enough(_: np.ndarray, left: np.ndarray, n_products: int) -> bool:
        products.append(n_products)
        return bool(np.abs(left).max() < 1e-9)

    solved = conjugate_gradients(
        lambda step: matrix @ step, lambda left: scale * left, wanted, enough, 99, ZERO
    )
    np.testing.assert_allclose(matrix @ solved, wanted, atol=1e-8)
    assert max(products) < 40


def test_it_goes_on_from_an_estimate() -> None:
    matrix, wanted = system(12)
    near = np.linalg.solve(matrix, wanted) + 1e-6
    lefts = []

    def enough(_: np.ndarray, left: np.ndarray, products: int) -> bool:
        lefts.append(np.abs(left).max())
        return products == 12

    solved = conjugate_gradients(
        lambda step: matrix @ step, lambda left: left, wanted, enough, 99, near
    )
    assert lefts[0] < 1e-3
    np.testing.assert_allclose(matrix @ solved, wanted, atol=1e-8)


def test_it_is_told_what_is_left_and_ends_when_that_is_enough() -> None:
    matrix, wanted = system(12)
    told = []

    def enough(step: np.ndarray, left: np.ndarray, products: int) -> bool:
        np.testing.assert_allclose(left, wanted - matrix @ step, atol=1e-9)
        told.append(products)
        return products == 3

    conjugate_gradients(
        lambda step: matrix @ step, lambda left: left, wanted, enough, 99, ZERO
    )
    assert told == [1, 2, 3]


def test_what_makes_it_easy_may_be_an_approximation_that_changes() -> None:
    matrix, wanted = system(12)
    inverse, rng = np.linalg.inv(matrix), np.random.default_rng(0)
    solved = conjugate_gradients(
        lambda step: matrix @ step,
        lambda left: inverse @ left * rng.uniform(0.9, 1.1, size=12),
        wanted,
        lambda _, left, __: bool(np.linalg.norm(left) < 1e-8 * np.linalg.norm(wanted)),
        50,
        ZERO,
    )
    np.testing.assert_allclose(matrix @ solved, wanted, atol=1e-6)


def test_nothing_wanted_is_nothing_done() -> None:
    solved = conjugate_gradients(
        lambda step: step, lambda left: left, ZERO, lambda *_: False, 9, ZERO
    )
    assert not solved.any()
