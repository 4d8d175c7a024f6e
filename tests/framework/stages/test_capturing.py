"""Tokens are replayed once, in batches, and only those that the probed model itself has
said.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gde import (
    ActivationRecord,
    CaptureRequest,
    Completion,
    Decision,
    EpisodeKey,
    TokenSequence,
    Trajectory,
)
from gde.data.activations import EMBEDDING
from gde.stages import capturing
from gde.stages.capturing import merge, record, sequences
from gde.store.activations import ActivationStore
from gde.store.journal import Journal
from gde.testing.parts import PlantedModel
from gde.testing.samples import sample_evidence

REQUEST = CaptureRequest(layers=(0, 1), positions=("pre", "post"))


@dataclass
class Counted(PlantedModel):
    """Notes how many sequences are replayed at once."""

    batches: list[int] = field(default_factory=list)

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        self.batches.append(len(sequences))
        return super().capture(sequences, request)


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


def test_what_is_stored_is_not_captured_again(store: ActivationStore) -> None:
    model, episodes = (
        Counted(),
        [trajectory(said(), said(tokens=(7, 8)), world=world) for world in range(2)],
    )
    assert (
        record(sequences(episodes[:1], "m"), lambda: model, "model", REQUEST, store)
        == 2
    )
    assert record(sequences(episodes, "m"), lambda: model, "model", REQUEST, store) == 2
    assert record(sequences(episodes, "m"), lambda: model, "model", REQUEST, store) == 0
    deeper = replace(REQUEST, layers=(EMBEDDING,))
    assert record(sequences(episodes, "m"), lambda: model, "model", deeper, store) == 4
    assert sum(model.batches) == 8


def test_a_position_that_a_turn_has_not_is_not_waited_for(
    store: ActivationStore,
) -> None:
    episodes = [trajectory(said(positions={"pre": (1,)}))]
    assert record(sequences(episodes, "m"), PlantedModel, "model", REQUEST, store) == 1
    assert record(sequences(episodes, "m"), PlantedModel, "model", REQUEST, store) == 0
    assert (store.stored("model", 0, "pre"), store.stored("model", 0, "post")) == (
        {("0/0/0", 0)},
        set(),
    )


def test_batches_are_bounded(
    store: ActivationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capturing, "BATCH", 2)
    model = Counted()
    assert (
        record(
            sequences([trajectory(*[said()] * 5)], "m"),
            lambda: model,
            "model",
            REQUEST,
            store,
        )
        == 5
    )
    assert model.batches == [2, 2, 1]
