"""Causal models estimated from data."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from gde_plugins.meg.causal import Diagram, mouse, target_variables

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
example = importlib.import_module("causal_from_data")
estimate, from_data = example.estimate, example.from_data

PARENTS = {"D": ["S"], "T": ["S", "D"]}


def sampled(accuracy: float, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    cheese = rng.integers(2, size=n)
    goes = np.where(rng.random(n) < accuracy, cheese, 1 - cheese)
    return {"S": cheese, "D": goes, "T": (cheese == goes).astype(int)}


def towards_cheese(found: Diagram) -> "object":
    return target_variables(found, ["T"], ["D"])


def test_many_rows_give_the_network_they_are_of() -> None:
    found = from_data(sampled(0.8, 20_000, np.random.default_rng(0)), PARENTS)
    np.testing.assert_allclose(
        found.nodes["D"].table, mouse(0.8).nodes["D"].table, atol=0.02
    )
    np.testing.assert_array_equal(found.nodes["T"].table, mouse(0.8).nodes["T"].table)


def test_bias_is_taken_off_and_the_interval_holds_the_truth() -> None:
    rng = np.random.default_rng(1)
    runs = [
        estimate(sampled(0.5, 25, rng), PARENTS, towards_cheese, rng) for _ in range(2)
    ]  # type: ignore[arg-type]
    assert all(run.interval[0] <= 1e-9 for run in runs), (
        "a random mouse is after nothing"
    )
    assert np.mean([run.value for run in runs]) < np.mean([run.plug_in for run in runs])
    strong = estimate(
        sampled(0.8, 300, np.random.default_rng(100)), PARENTS, towards_cheese, rng
    )  # type: ignore[arg-type]
    exact = target_variables(mouse(0.8), ["T"]).value
    assert strong.interval[0] < exact < strong.interval[1]


@pytest.mark.parametrize(
    ("columns", "parents", "said"),
    [
        ({"A": [0.5]}, {}, r"'A': wanted \(N,\) whole numbers from 0, got float64"),
        ({"A": [0, 1], "B": [0]}, {}, "columns of one length, got A: 2, B: 1"),
        ({"A": [0, 1]}, {"A": ["B"]}, "variables with a column, got 'B'"),
        ({"A": [-1, 1]}, {}, "whole numbers from 0"),
    ],
)
def test_data_that_do_not_fit_are_named(
    columns: dict[str, list[int]], parents: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        from_data(columns, parents)


def test_no_column_and_a_single_row_are_no_sample() -> None:
    for columns, said in (
        ({}, "got no column"),
        ({"D": [1], "S": [0], "T": [0]}, "at least two rows, got 1"),
    ):
        with pytest.raises(ValueError, match=said):
            estimate(columns, PARENTS, towards_cheese, np.random.default_rng(0))  # type: ignore[arg-type]
