"""Trajectories to activations: stored tokens are replayed through the model, and only what is asked for is kept."""

from collections.abc import Iterator, Sequence
from itertools import islice

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest, TokenSequence
from gde.data.trajectory import Trajectory
from gde.parts.language_model import WhiteBox
from gde.store.activations import ActivationStore, Row

BATCH = 64


def record(
    trajectories: Sequence[Trajectory], model: WhiteBox, source: str, request: CaptureRequest, store: ActivationStore
) -> int:
    """Capture every turn that has replayable tokens, and store it. Gives the number of turns."""
    return store.write(source, _captured(_sequences(trajectories), model, request))


def record_bags(
    trajectories: Sequence[Trajectory], model: WhiteBox, source: str, marks: Sequence[str], store: ActivationStore
) -> int:
    """Store, for each mark, the mean input embedding of all tokens up to it: which tokens there were, and no more.

    The marked tokens themselves are template tokens, the same in every turn, so their own embeddings say nothing.
    """
    request = CaptureRequest(layers=(EMBEDDING,), marks=tuple(marks))
    whole = ((row, _up_to_marks(sequence)) for row, sequence in _sequences(trajectories))
    return store.write(source, ((row, _mean(each)) for row, each in _captured(whole, model, request)))


def merge(requests: Sequence[CaptureRequest]) -> CaptureRequest:
    """One request that keeps what all of them ask for."""
    layers = sorted({layer for request in requests for layer in request.layers})
    marks = sorted({mark for request in requests for mark in request.marks})
    return CaptureRequest(layers=tuple(layers), marks=tuple(marks))


def _captured(
    sequences: Iterator[tuple[Row, TokenSequence]], model: WhiteBox, request: CaptureRequest
) -> Iterator[tuple[Row, ActivationRecord]]:
    while batch := list(islice(sequences, BATCH)):
        records = model.capture([sequence for _, sequence in batch], request)
        yield from zip((row for row, _ in batch), records, strict=True)


def _up_to_marks(sequence: TokenSequence) -> TokenSequence:
    marks = {mark: tuple(range(max(places) + 1)) for mark, places in sequence.marks.items()}
    return TokenSequence(tokens=sequence.tokens, marks=marks)


def _mean(record: ActivationRecord) -> ActivationRecord:
    return ActivationRecord(values={place: values.mean(0, keepdims=True) for place, values in record.values.items()})


def _sequences(trajectories: Sequence[Trajectory]) -> Iterator[tuple[Row, TokenSequence]]:
    for trajectory in trajectories:
        for turn in trajectory.turns:
            completion = turn.decision.completion
            if completion is not None and completion.prompt_tokens and completion.marks:
                tokens = completion.prompt_tokens + completion.tokens
                yield (str(trajectory.key), turn.index), TokenSequence(tokens=tokens, marks=completion.marks)
