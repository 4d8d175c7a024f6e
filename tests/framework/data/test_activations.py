"""Changes of the residual stream, and activations of turns that differ in length."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gde.data.activations import ActivationTable, Intervention
from gde.data.completion import ChatRequest, Message

WIDE = np.linspace(-1, 1, 2880, dtype=np.float32)


def change(**different: Any) -> Intervention:
    return Intervention(
        **{"layer": 3, "position": "pre", "kind": "add", "vector": WIDE, **different}
    )


def nudged(entry: int) -> Any:
    vector = WIDE.copy()
    vector[entry] = np.nextafter(vector[entry], np.float32(2))
    return vector


@pytest.mark.parametrize("entry", [0, 1000, 2879])
def test_one_entry_of_2880_makes_another_request(entry: int) -> None:
    one, other = change(), change(vector=nudged(entry))
    assert one.vector[entry] != other.vector[entry]
    assert one != other
    asked = ChatRequest(messages=(Message(role="user", content="?"),), seed=0)
    identities = {
        replace(asked, interventions=each).identity
        for each in ((), (one,), (other,), (one, other))
    }
    assert len(identities) == 4


@pytest.mark.parametrize(
    "different",
    [
        {"layer": 2},
        {"position": "post"},
        {"kind": "replace"},
        {"place": "mlp"},
        {"place": "head:1"},
        {"vector": WIDE[None]},
        {"vector": -WIDE},
    ],
)
def test_everything_counts(different: dict[str, Any]) -> None:
    assert change(**different).identity != change().identity


def test_equal_changes_are_equal_whatever_their_vectors_are_made_of() -> None:
    double = WIDE.astype(np.float64)
    assert {
        change(),
        change(vector=double),
        change(vector=np.repeat(WIDE, 2)[::2]),
    } == {change()}
    assert change() != "change"


def test_what_was_asked_cannot_be_changed_afterwards() -> None:
    mine = WIDE.copy()
    asked = change(vector=mine)
    mine[0] = 9
    assert asked == change()
    with pytest.raises(ValueError, match="read-only"):
        asked.vector[0] = 9


@pytest.mark.parametrize(
    ("different", "message"),
    [
        ({"vector": [np.nan]}, "must be finite"),
        (
            {"vector": np.zeros((1, 2, 3))},
            r"must be \(width,\) or \(tokens, width\), got \(1, 2, 3\)",
        ),
        ({"vector": []}, "got (.*0,)"),
        (
            {"kind": "subtract"},
            "must be one of add, replace, project_out, got 'subtract'",
        ),
        ({"place": "head:"}, "place: one of residual, .* and head:N, got 'head:'"),
        ({"place": "head:-1"}, "got 'head:-1'"),
        ({"place": "neuron"}, "got 'neuron'"),
        (
            {"kind": "project_out", "vector": np.zeros(4)},
            "a zero vector has no direction",
        ),
        (
            {"kind": "project_out", "vector": np.eye(3)[:, :2]},
            "a zero vector has no direction",
        ),
    ],
)
def test_a_change_that_means_nothing_is_refused(
    different: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        change(**different)


@pytest.mark.parametrize(
    "vector", [np.array([3.0, 4.0]), np.array([[3.0, 4.0], [0.0, 2.0]])]
)
def test_the_kinds_do_what_they_say(vector: Any) -> None:
    stream = np.array([[1.0, 2.0], [5.0, -1.0]])
    made = {
        kind: change(kind=kind, vector=vector).applied(stream)
        for kind in ("add", "replace", "project_out")
    }
    assert made["add"].tolist() == (stream + vector).tolist()
    assert made["replace"].tolist() == np.broadcast_to(vector, (2, 2)).tolist()
    assert (made["project_out"] * vector).sum(axis=1) == pytest.approx(
        [0, 0], abs=1e-12
    )
    along = stream - made["project_out"]
    assert along[:, 0] * np.broadcast_to(vector, (2, 2))[:, 1] == pytest.approx(
        along[:, 1] * np.broadcast_to(vector, (2, 2))[:, 0]
    ), "only what lies along the vector is taken away"
    assert all(each.dtype == stream.dtype for each in made.values())


def table(*lengths: int) -> ActivationTable:
    values = np.arange(2 * sum(lengths), dtype=np.float32).reshape(-1, 2)
    rows = tuple(("0/0/0", turn) for turn in range(len(lengths)))
    return ActivationTable(values=values, lengths=np.array(lengths), rows=rows)


def test_turns_of_one_length_lie_side_by_side_and_one_after_another() -> None:
    same = table(2, 2)
    assert same.concatenated().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert np.shares_memory(same.concatenated(), same.values)
    assert same.padded().tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_turns_of_any_length_are_padded_with_what_is_no_number() -> None:
    ragged = table(1, 3, 2)
    padded = ragged.padded()
    assert padded.shape == (3, 3, 2)
    assert padded[~np.isnan(padded)].tolist() == ragged.values.ravel().tolist()
    assert padded[2].tolist()[:2] == [[8, 9], [10, 11]]
    with pytest.raises(
        ValueError,
        match=r'equally many tokens .*, got 1 to 3: .* `inputs = "tokens"`',
    ):
        ragged.concatenated()


def test_some_turns_are_given_in_the_wanted_order() -> None:
    same, ragged = table(2, 2, 2), table(1, 3, 2)
    assert same.concatenated(np.array([2, 0])).tolist() == [
        [8, 9, 10, 11],
        [0, 1, 2, 3],
    ]
    assert same.concatenated(np.array([], dtype=int)).shape == (0, 4)
    # As wide as the longest of all turns.
    some = ragged.padded(np.array([2, 0]))
    np.testing.assert_array_equal(some, ragged.padded()[[2, 0]])


def test_activations_that_look_like_padding_are_refused() -> None:
    broken = table(1, 2)
    broken.values[0] = np.nan
    with pytest.raises(ValueError, match="wanted finite activations"):
        broken.padded()
