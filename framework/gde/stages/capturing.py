"""Trajectories to activations: stored tokens are replayed through the model, and only what is asked for is kept.

What was said under interventions is replayed under them: what is read is the state in which the model spoke. The
untrained twin is replayed under the same ones, for a control is given all that the model was given.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest, TokenSequence
from gde.data.trajectory import Trajectory
from gde.parts.language_model import WhiteBox
from gde.store.activations import ActivationStore, Row

BATCH = 64
Sequences = Iterator[tuple[Row, TokenSequence]]


def record(found: Sequences, model: WhiteBox, source: str, request: CaptureRequest, store: ActivationStore) -> int:
    """Capture every turn that is not stored yet. Gives the number of turns captured."""
    return store.write(source, _captured(_lacking(found, source, request, store), model, request))


def record_bags(found: Sequences, model: WhiteBox, source: str, marks: Sequence[str], store: ActivationStore) -> int:
    """Store, for each mark, the mean input embedding of all tokens up to it: which tokens there were, and no more.

    The marked tokens themselves are template tokens, the same in every turn, so their own embeddings say nothing.
    """
    request = CaptureRequest(layers=(EMBEDDING,), marks=tuple(marks))
    wanted = _lacking(found, source, request, store)
    whole = ((row, _up_to_marks(sequence)) for row, sequence in wanted)
    return store.write(source, ((row, _mean(each)) for row, each in _captured(whole, model, request)))


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


def _lacking(found: Sequences, source: str, request: CaptureRequest, store: ActivationStore) -> Sequences:
    """The sequences of which something that is asked for, and that they have, is not stored."""
    stored = {(layer, mark): store.stored(source, layer, mark) for layer in request.layers for mark in request.marks}
    for row, sequence in found:
        if any(row not in rows for (_, mark), rows in stored.items() if mark in sequence.marks):
            yield row, sequence


def _captured(wanted: Sequences, model: WhiteBox, request: CaptureRequest) -> Iterator[tuple[Row, ActivationRecord]]:
    while batch := list(islice(wanted, BATCH)):
        records = model.capture([sequence for _, sequence in batch], request)
        yield from zip((row for row, _ in batch), records, strict=True)


def _up_to_marks(sequence: TokenSequence) -> TokenSequence:
    """The tokens alone, as no intervention has changed them."""
    marks = {mark: tuple(range(max(places) + 1)) for mark, places in sequence.marks.items()}
    return TokenSequence(tokens=sequence.tokens, marks=marks)


def _mean(record: ActivationRecord) -> ActivationRecord:
    return ActivationRecord(values={place: values.mean(0, keepdims=True) for place, values in record.values.items()})
