"""Tokens are replayed once, in batches, and only those that the probed model itself has
said.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

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
from gde.stages.capturing import merge, record, record_bags, sequences
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


@dataclass
class Kept:
    """Keeps in memory what is captured."""

    values: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def stored(self, *_: object) -> set[object]:
        return set()

    def write(
        self, source: str, records: Iterable[tuple[object, ActivationRecord]]
    ) -> int:
        found = [
            {position: values for (_, position), values in each.values.items()}
            for _, each in records
        ]
        self.values = found[0]
        return len(found)


def test_a_bag_knows_nothing_of_the_order_of_its_tokens() -> None:
    """Not even from how the sum is rounded, which a probe of z-scored values reads."""
    tokens, seen = np.random.default_rng(0).integers(40, size=200), set()
    for _ in range(5):
        np.random.default_rng(len(seen)).shuffle(tokens)
        kept, places = Kept(), tuple(range(197, 200))
        episodes = [
            trajectory(
                said(prompt_tokens=tuple(tokens.tolist()), positions={"pre": places})
            )
        ]
        record_bags(sequences(episodes, "m"), PlantedModel, "bags", ("pre",), kept)  # type: ignore[arg-type]
        seen.add(kept.values["pre"].tobytes())
    assert len(seen) == 1


def test_a_bag_is_the_mean_embedding_of_all_tokens_up_to_the_position_for_each_of_its_tokens() -> (
    None
):
    model, kept = PlantedModel(), Kept()
    sequence = TokenSequence(tokens=(1, 2, 3, 4), positions={"all": (0, 1, 2, 3)})
    every = model.capture(
        [sequence], CaptureRequest(layers=(EMBEDDING,), positions=("all",))
    )[0].values[EMBEDDING, "all"]
    episodes = [trajectory(said(positions={"pre": (0, 1), "post": (3,)}))]
    assert (
        record_bags(
            sequences(episodes, "m"), lambda: model, "bags", ("pre", "post"), kept
        )
        == 1
    )  # type: ignore[arg-type]
    assert np.allclose(kept.values["pre"], [every[:2].mean(0)] * 2, atol=1e-6)
    assert np.allclose(kept.values["post"], [every.mean(0)], atol=1e-6)
