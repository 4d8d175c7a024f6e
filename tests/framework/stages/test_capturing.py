"""Tokens are replayed once, and only those that the probed model itself has said."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from gde import (
    CaptureRequest,
    Completion,
    Decision,
    EpisodeKey,
    TokenSequence,
    Trajectory,
)
from gde.data.activations import EMBEDDING
from gde.stages.capturing import (
    lacking,
    merge,
    new,
    rows_at,
    sequences,
    stored_in,
)
from gde.store.activations import ActivationStore
from gde.store.journal import Journal
from gde.testing.parts import PlantedModel
from gde.testing.samples import sample_evidence

REQUEST = CaptureRequest(layers=(0, 1), positions=("pre", "post"))


def said(model: str = "m", **change: object) -> Completion:
    completion = Completion(
        text="RIGHT",
        reasoning=None,
        finish="stop",
        prompt_tokens=(1, 2),
        tokens=(3, 4),
        positions={"pre": (1,), "post": (3,)},
        model=model,
    )
    return replace(completion, **change)  # type: ignore[arg-type]


def trajectory(*completions: Completion | None, world: int = 0) -> Trajectory:
    """An episode in which these completions were given."""
    sample = sample_evidence(1).trajectories[0]
    turns = [
        replace(sample.turns[0], index=i, decision=Decision.act("RIGHT", each))
        for i, each in enumerate(completions)
    ]
    return replace(sample, key=EpisodeKey(condition=0, world=world), turns=tuple(turns))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ActivationStore]:
    with closing(Journal.create(tmp_path / "run.sqlite")) as journal:
        yield ActivationStore(tmp_path / "activations", journal)


def test_requests_are_merged_to_one_that_serves_all() -> None:
    others = [
        CaptureRequest(layers=(2, 1), positions=("post",)),
        CaptureRequest(layers=(0,), positions=("pre", "post")),
    ]
    assert merge(others) == CaptureRequest(layers=(0, 1, 2), positions=("post", "pre"))


def test_turns_are_replayed_that_this_model_decided_and_whose_tokens_are_known() -> (
    None
):
    episode = trajectory(
        said(),
        None,
        said("another"),
        said(prompt_tokens=()),
        said(positions={}),
        said(tokens=(5,)),
    )
    found = dict(sequences([episode], "m"))
    assert [turn for _, turn in found] == [0, 5]
    assert found["0/0/0", 0] == TokenSequence(
        tokens=(1, 2, 3, 4), positions={"pre": (1,), "post": (3,)}
    )
    assert [turn for _, turn in dict(sequences([episode], "another"))] == [2]


def record(
    episodes: Sequence[Trajectory],
    store: ActivationStore,
    request: CaptureRequest = REQUEST,
) -> int:
    """Capture what is not stored; return the number of turns."""
    stored = stored_in(store, "model", request)
    turns = [*lacking(sequences(episodes, "m"), stored)]
    captured = PlantedModel().capture([each for _, each in turns], request)
    rows = [row for row, _ in turns]
    return store.write("model", new(zip(rows, captured, strict=True), stored))


def test_what_is_stored_is_not_captured_again(store: ActivationStore) -> None:
    episodes = [
        trajectory(said(), said(tokens=(7, 8)), world=world) for world in range(2)
    ]
    assert record(episodes[:1], store) == 2
    assert record(episodes, store) == 2
    assert record(episodes, store) == 0
    assert record(episodes, store, replace(REQUEST, layers=(EMBEDDING,))) == 4


def test_a_position_that_a_turn_has_not_is_not_waited_for(
    store: ActivationStore,
) -> None:
    episodes = [trajectory(said(positions={"pre": (1,)}))]
    assert record(episodes, store) == 1
    assert record(episodes, store) == 0
    assert (store.stored("model", 0, "pre"), store.stored("model", 0, "post")) == (
        {("0/0/0", 0)},
        set(),
    )


def test_turns_are_listed_by_the_positions_that_they_have() -> None:
    episode = trajectory(said(), said(positions={"pre": (1,), "post": ()}))
    rows = rows_at(sequences([episode], "m"), ("pre", "post", "reasoning"))
    assert rows == {
        "pre": [("0/0/0", 0), ("0/0/0", 1)],
        "post": [("0/0/0", 0)],
        "reasoning": [],
    }
