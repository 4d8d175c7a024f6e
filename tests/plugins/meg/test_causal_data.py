"""Diagrams of data, and classes of utilities in diagrams."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gde_plugins.meg.causal import (
    Diagram,
    chance,
    decision,
    estimate,
    from_data,
    known_utility,
    mouse,
    target_variables,
    unknown_utility,
    utility,
)

PARENTS = {"D": ["S"], "T": ["S", "D"]}


def sampled(accuracy: float, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    cheese = rng.integers(2, size=n)
    goes = np.where(rng.random(n) < accuracy, cheese, 1 - cheese)
    return {"S": cheese, "D": goes, "T": (cheese == goes).astype(int)}


def towards_cheese(found: Diagram) -> "object":
    return target_variables(found, ["T"], ["D"])


def test_many_rows_give_the_network_they_are_of() -> None:
    found = from_data(sampled(0.8, 20_000, np.random.default_rng(0)), PARENTS)
    np.testing.assert_allclose(found.nodes["D"].table, mouse(0.8).nodes["D"].table, atol=0.02)
    np.testing.assert_array_equal(found.nodes["T"].table, mouse(0.8).nodes["T"].table)


def test_bias_is_taken_off_and_the_interval_holds_the_truth() -> None:
    rng = np.random.default_rng(1)
    runs = [estimate(sampled(0.5, 25, rng), PARENTS, towards_cheese, rng) for _ in range(2)]  # type: ignore[arg-type]
    assert all(run.interval[0] <= 1e-9 for run in runs), "a random mouse is after nothing"
    assert np.mean([run.value for run in runs]) < np.mean([run.plug_in for run in runs])
    strong = estimate(sampled(0.8, 300, np.random.default_rng(100)), PARENTS, towards_cheese, rng)  # type: ignore[arg-type]
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
    for columns, said in (({}, "got no column"), ({"D": [1], "S": [0], "T": [0]}, "at least two rows, got 1")):
        with pytest.raises(ValueError, match=said):
            estimate(columns, PARENTS, towards_cheese, np.random.default_rng(0))  # type: ignore[arg-type]


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_one_utility_is_known_and_all_of_them_are_the_targets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    diagram = Diagram(
        chance("S", rng.dirichlet(np.ones(2))),
        decision("D", rng.dirichlet(np.ones(3), size=2), ["S"]),
        chance("T", rng.dirichlet(np.ones(3), size=(2, 3)), ["S", "D"]),
    )
    every = [utility(f"U{t}", np.eye(3)[t], ["T"]) for t in range(3)]
    one = unknown_utility(diagram.posit(utilities=every[:1]))
    known = known_utility(diagram.posit(utilities=every[:1]))
    assert one.value == pytest.approx(known.value, abs=1e-6)
    whole = unknown_utility(diagram.posit(utilities=every))
    assert whole.value == pytest.approx(target_variables(diagram, ["T"]).value, abs=1e-6)
    two = unknown_utility(diagram.posit(utilities=every[:2]))
    assert one.value - 1e-7 <= two.value <= whole.value + 1e-6
    for found in (one, two, whole):
        assert found.bounds[0] <= found.value <= found.bounds[1] <= found.bounds[0] + 1e-4


def test_weights_are_those_of_the_utilities() -> None:
    found = unknown_utility(mouse(0.8).posit(utilities=[utility("U", [0.0, 4.0], ["T"])]))
    assert found.weights is not None
    assert found.weights[0] * 4 == pytest.approx(np.log(4), abs=1e-5)


def test_a_class_needs_a_utility() -> None:
    with pytest.raises(ValueError, match="wanted a diagram with utilities"):
        unknown_utility(mouse())
