"""Trajectories to activations: stored tokens are replayed through the model, and only what is asked for is kept.

What was said under interventions is replayed under them: what is read is the state in which the model spoke. The
untrained twin is replayed under the same ones, for a control is given all that the model was given.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest, TokenSequence
from gde.data.trajectory import Trajectory
from gde.parts.language_model import WhiteBox
from gde.store.activations import ActivationStore, Place, Row

BATCH = 64
Sequences = Iterator[tuple[Row, TokenSequence]]
Records = Iterable[tuple[Row, ActivationRecord]]
Stored = Mapping[Place, set[Row]]
"""Layer and mark to the turns whose activations there are stored."""
Made = Callable[[], WhiteBox]
"""Gives the model. It is called where something has to be replayed, so that what is all stored needs no weights."""


def record(found: Sequences, model: Made, source: str, request: CaptureRequest, store: ActivationStore) -> int:
    """Capture every turn of which something is not stored yet; what is stored stays. Gives the number of turns."""
    stored = _stored(source, request, store)
    return store.write(source, _new(_captured(_lacking(found, stored), model, request), stored))


def record_bags(found: Sequences, model: Made, source: str, marks: Sequence[str], store: ActivationStore) -> int:
    """Store, for each mark, the mean input embedding of all tokens up to it: which tokens there were, and no more, once
    for each marked token, so that a probe of it is as wide as one of the activations.

    The marked tokens themselves are template tokens, the same in every turn, so their own embeddings say nothing.
    """
    request = CaptureRequest(layers=(EMBEDDING,), marks=tuple(marks))
    stored = _stored(source, request, store)
    marked: dict[Row, Mapping[str, tuple[int, ...]]] = {}  # of those on their way through the model

    def whole() -> Sequences:
        for row, sequence in _lacking(found, stored):
            marked[row] = sequence.marks
            yield row, _up_to_marks(sequence)

    captured = _captured(whole(), model, request)
    return store.write(source, _new(((row, _repeated(each, marked.pop(row))) for row, each in captured), stored))


def merge(requests: Sequence[CaptureRequest]) -> CaptureRequest:
    """One request that keeps what all of them ask for."""
    layers = sorted({layer for request in requests for layer in request.layers})
    marks = sorted({mark for request in requests for mark in request.marks})
    return CaptureRequest(layers=tuple(layers), marks=tuple(marks))


def sequences(trajectories: Iterable[Trajectory], name: str) -> Sequences:
    """The replayable tokens of every turn that the language model of this name decided and that has any."""
    for trajectory in trajectories:
        for turn in trajectory.turns:
            completion = turn.decision.completion
            if completion is None or completion.model != name:
                continue
            if completion.prompt_tokens and completion.marks:
                tokens = completion.prompt_tokens + completion.tokens
                changes = completion.interventions
                sequence = TokenSequence(tokens=tokens, marks=completion.marks, interventions=changes)
                yield (str(trajectory.key), turn.index), sequence


def _stored(source: str, request: CaptureRequest, store: ActivationStore) -> Stored:
    return {(layer, mark): store.stored(source, layer, mark) for layer in request.layers for mark in request.marks}


def _lacking(found: Sequences, stored: Stored) -> Sequences:
    """The sequences of which something that is asked for, and that they have, is not stored."""
    for row, sequence in found:
        if any(row not in rows for (_, mark), rows in stored.items() if mark in sequence.marks):
            yield row, sequence


def _new(records: Records, stored: Stored) -> Records:
    """The records without what is stored: its files stay the ones that the index names."""
    for row, each in records:
        yield row, ActivationRecord(values={place: of for place, of in each.values.items() if row not in stored[place]})


def _captured(wanted: Sequences, model: Made, request: CaptureRequest) -> Records:
    while batch := list(islice(wanted, BATCH)):
        records = model().capture([sequence for _, sequence in batch], request)
        yield from zip((row for row, _ in batch), records, strict=True)


def _up_to_marks(sequence: TokenSequence) -> TokenSequence:
    """The tokens alone, as no intervention has changed them."""
    marks = {mark: tuple(range(max(places) + 1)) for mark, places in sequence.marks.items()}
    return TokenSequence(tokens=sequence.tokens, marks=marks)


def _repeated(record: ActivationRecord, marks: Mapping[str, tuple[int, ...]]) -> ActivationRecord:
    """The mean over all tokens, as many times as the mark has tokens: to the last bit the same of the same tokens in
    another order, else a probe would read their order from how the sum is rounded."""
    return ActivationRecord(
        values={
            (layer, mark): np.repeat(np.sort(values, axis=0).mean(0, keepdims=True), len(marks[mark]), axis=0)
            for (layer, mark), values in record.values.items()
        }
    )
