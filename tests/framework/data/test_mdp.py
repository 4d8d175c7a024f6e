"""What `gde.data.mdp` refuses."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gde.data.mdp import Policy, TabularMDP

STAY = csr_array(np.eye(2))


def model(**changed: Any) -> TabularMDP:
    return TabularMDP(
        **{
            "transition": (STAY,),
            "start": np.array([1.0, 0.0]),
            "reward": np.zeros(2),
            **changed,
        }
    )


@pytest.mark.parametrize(
    "terminal",
    [
        np.array([True]),
        np.array([0, 1]),
        np.array([0.0, 1.0]),
        np.array([[True, False]]),
        np.array([True] * 3),
    ],
)
def test_terminal_says_so_of_every_state(terminal: Any) -> None:
    with pytest.raises(
        ValueError, match=r"terminal must be bool of shape \(2,\), got .* of shape"
    ):
        model(terminal=terminal)


@pytest.mark.parametrize(
    "start", [[np.nan, 1.0], [np.nan, np.nan], [0.5, 0.4], [1.5, -0.5], [1.0]]
)
def test_start_is_a_distribution(start: list[float]) -> None:
    with pytest.raises(
        ValueError,
        match=r"start must be \(2,\) probabilities that sum to one, got shape",
    ):
        model(start=np.array(start))


@pytest.mark.parametrize(
    "row", [[np.nan, 1.0], [0.5, np.nan], [0.5, 0.4], [1.5, -0.5], [np.inf, 0.0]]
)
def test_rows_of_a_transition_are_distributions(row: list[float]) -> None:
    with pytest.raises(
        ValueError, match=r"transition\[1\] row 1 must be probabilities that sum to one"
    ):
        model(transition=(STAY, csr_array(np.array([[1.0, 0.0], row]))))


@pytest.mark.parametrize("row", [[np.nan, 0.5], [0.5, 0.4], [1.5, -0.5], [np.inf, 0.0]])
def test_rows_of_a_policy_are_distributions(row: list[float]) -> None:
    with pytest.raises(
        ValueError, match="every row of a policy must be probabilities that sum to one"
    ):
        Policy(probabilities=np.array([[0.5, 0.5], row]))


@pytest.mark.parametrize("reward", [[0.0, np.nan], [np.inf, 0.0]])
def test_rewards_are_finite(reward: list[float]) -> None:
    with pytest.raises(ValueError, match="reward must be finite in every state"):
        model(reward=np.array(reward))


def test_dense_arrays_lists_and_sparse_matrices_make_the_same_process() -> None:
    dense = np.array([[[0.5, 0.5], [0, 1]], [[1, 0], [0.2, 0.8]]])
    sparse = [csr_array(each) for each in dense]
    for given in (
        dense,
        dense.tolist(),
        sparse,
        tuple(each.tocoo() for each in sparse),
    ):
        made = TabularMDP.of(
            given,
            [0, 1],
            start=[0.5, 0.5],
            terminal=[False, True],
            labels={"end": [0, 1]},
        )
        for matrix, wanted in zip(made.transition, dense, strict=True):
            np.testing.assert_array_equal(matrix.toarray(), wanted)
        assert made.terminal is not None
        assert made.terminal.tolist() == [False, True]
        assert made.labels["end"].tolist() == [0.0, 1.0]


def test_an_episode_begins_in_the_named_state() -> None:
    assert TabularMDP.of([np.eye(3)], np.zeros(3), start=2).start.tolist() == [
        0.0,
        0.0,
        1.0,
    ]
    with pytest.raises(
        ValueError, match="start must be a state from 0 to 2 or probabilities, got 3"
    ):
        TabularMDP.of([np.eye(3)], np.zeros(3), start=3)


@pytest.mark.parametrize(
    ("transition", "said"),
    [
        ([], r"transition must be \(A, S, S\), got list"),
        (STAY, "got a single one: put them in a list"),
        (
            np.ones((2, 3, 2)) / 2,
            r"got \(2, 3, 2\): from \(S, A, S\), give transition.swapaxes\(0, 1\)",
        ),
        ([["a", "b"]], r"transition\[0\] must be an array of numbers, got list"),
        (None, r"transition must be \(A, S, S\), got NoneType"),
        (np.zeros(2), r"reward must have shape \(1,\) or \(1, 2\), got \(2,\)"),
    ],
)
def test_what_is_no_transition_is_said(transition: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        TabularMDP.of(transition, [0, 0])


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"transition": ()}, r"transition must be \(A, S, S\), got tuple"),
        (
            {"reward": np.array(["a", "b"])},
            "reward must be an array of numbers, got <U1 of shape",
        ),
        ({"discount": 1.1}, "discount must be from 0 to 1, got 1.1"),
        ({"discount": float("nan")}, "discount must be from 0 to 1, got nan"),
        ({"discount": "one"}, "discount must be from 0 to 1, got 'one'"),
        (
            {"labels": {"row": np.zeros(3)}},
            r"labels\['row'\] must have shape \(2,\), got \(3,\)",
        ),
    ],
)
def test_wrong_types_are_named_when_the_process_is_made(
    changed: Any, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        model(**changed)


def test_lists_become_arrays_when_the_process_is_made() -> None:
    made = model(transition=[np.eye(2)], start=[1, 0], terminal=[True, False])
    assert made.start.dtype == np.float64
    assert made.terminal is not None and made.terminal.dtype == np.bool_
    assert made.transition[0].toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("probabilities", [0.5, [0.5, 0.5], np.full((1, 1, 1, 1), 1.0)])
def test_a_policy_is_an_array_of_two_or_three_axes(probabilities: Any) -> None:
    with pytest.raises(
        ValueError, match=r"an array of shape \(S, A\) or \(T, S, A\), got"
    ):
        Policy(probabilities=probabilities)


def test_a_policy_of_lists() -> None:
    assert Policy.of([[0.5, 0.5], [1, 0]]).probabilities.dtype == np.float64


def test_a_sparse_matrix_stays_as_it_was_given() -> None:
    """Entries that are given twice add up, and may lie in memory that is read only."""
    given = csr_array(([0.5, 0.5, 1.0], [1, 1, 1], [0, 2, 3]), shape=(2, 2))
    for part in (given.data, given.indices, given.indptr):
        part.setflags(write=False)
    read = TabularMDP(transition=(given,), reward=np.zeros(2), start=np.array([1, 0]))
    assert given.nnz == 3
    np.testing.assert_array_equal(read.transition[0].toarray(), [[0, 1], [0, 1]])
    assert read.deterministic
