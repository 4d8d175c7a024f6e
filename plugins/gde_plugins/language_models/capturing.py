"""Reading the residual stream by replay: one forward pass over stored tokens, nothing kept but what was asked for."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest, TokenSequence
from gde.errors import GdeError
from gde_plugins.language_models.residual_stream import Change, Visit, changing, decoder_layers, visiting


class _Prefix(NamedTuple):
    """What of a sequence is replayed. Causal attention makes all that follows irrelevant."""

    tokens: tuple[int, ...]
    """Up to the last place that is read or changed."""
    places: tuple[tuple[str, tuple[int, ...]], ...]
    """The marks that are read."""
    changes: tuple[Change, ...]
    """Those at layers that are gone through."""


class _DeepEnoughError(Exception):
    """The deepest layer that was asked for is done."""


@dataclass(frozen=True, kw_only=True)
class _Places:
    """Where one batch is read: K tokens in all."""

    rows: Tensor
    columns: Tensor
    pieces: Sequence[int]
    """Tokens of each mark of each sequence, in order; they sum to K."""


class Reader:
    """Replays sequences through a model.

    On a CPU every sequence runs alone: batches are no faster there, and so no activation can depend on its company.
    A float64 model is read in float32, which is what is kept, at a third of the time.
    """

    def __init__(self, model: Any, batch_size: int) -> None:
        self._original = model
        self._batch_size = 1 if model.device.type == "cpu" else batch_size

    @cached_property
    def _model(self) -> Any:
        return copy.deepcopy(self._original).float() if self._original.dtype == torch.float64 else self._original

    def capture(self, sequences: Sequence[TokenSequence], request: CaptureRequest) -> list[ActivationRecord]:
        """The activations of every sequence, in order.

        Equal prefixes are run once; batches are made of sequences of similar length, padded on the right, where causal
        attention cannot see it. No logits are computed.

        Raises:
            GdeError: a layer that the model does not have.
        """
        layers = decoder_layers(self._model)
        if unknown := [layer for layer in request.layers if not EMBEDDING <= layer < len(layers)]:
            wanted = f"layers from {EMBEDDING} (embeddings) to {len(layers) - 1}"
            raise GdeError(f"capture: wanted {wanted}, got {unknown[0]}")
        prefixes = [_prefix(sequence, request) for sequence in sequences]
        marked = dict.fromkeys(prefix for prefix in prefixes if prefix.places and request.layers)
        todo = sorted(marked, key=lambda prefix: (len(prefix.tokens), prefix.tokens, prefix.places))
        records: dict[_Prefix, ActivationRecord] = {}
        for start in range(0, len(todo), self._batch_size):
            batch = todo[start : start + self._batch_size]
            records.update(zip(batch, _capture_batch(self._model, layers, batch, request.layers), strict=True))
        return [records.get(prefix, ActivationRecord(values={})) for prefix in prefixes]


def _prefix(sequence: TokenSequence, request: CaptureRequest) -> _Prefix:
    places = tuple((mark, tuple(sequence.marks[mark])) for mark in request.marks if sequence.marks.get(mark))
    reached = [each for each in sequence.interventions if each.layer <= max(request.layers, default=EMBEDDING)]
    changes = Change.of(reached, sequence.marks)
    indices = [*(indices for _, indices in places), *(change.places for change in changes)]
    end = max((index for several in indices for index in several), default=-1) + 1
    if end > len(sequence.tokens):
        raise ValueError(f"marks point to token {end - 1} of a sequence of {len(sequence.tokens)}")
    return _Prefix(tokens=tuple(sequence.tokens[:end]), places=places, changes=changes)


def _capture_batch(
    model: Any, layers: Sequence[Any], batch: Sequence[_Prefix], wanted: Sequence[int]
) -> Iterator[ActivationRecord]:
    width = max(len(prefix.tokens) for prefix in batch)
    padded = [[*prefix.tokens, *[0] * (width - len(prefix.tokens))] for prefix in batch]
    ids = torch.tensor(padded, device=model.device)
    places = _places(batch, model.device)
    read: dict[int, NDArray[np.float32]] = {}
    # Changes come first, so that what is read at a layer is read after them.
    changes = changing(model, [prefix.changes for prefix in batch], [0] * len(batch))
    reading = visiting(layers, _readers(wanted, places, read))
    with torch.inference_mode(), changes, suppress(_DeepEnoughError), reading:
        model.get_decoder()(input_ids=ids, use_cache=False)
    edges = np.cumsum(places.pieces)[:-1]
    pieces = {layer: iter(np.split(values, edges)) for layer, values in read.items()}
    for prefix in batch:
        yield ActivationRecord(
            values=_frozen({(n, mark): next(pieces[n]) for mark, _ in prefix.places for n in wanted})
        )


def _places(batch: Sequence[_Prefix], device: Any) -> _Places:
    found = [(row, indices) for row, prefix in enumerate(batch) for _, indices in prefix.places]
    rows = [row for row, indices in found for _ in indices]
    columns = [index for _, indices in found for index in indices]
    return _Places(
        rows=torch.tensor(rows, device=device),
        columns=torch.tensor(columns, device=device),
        pieces=[len(indices) for _, indices in found],
    )


def _readers(wanted: Sequence[int], places: _Places, read: dict[int, NDArray[np.float32]]) -> dict[int, Visit]:
    """Visitors that fill `read` with (K, width) arrays and end the pass at the deepest wanted layer."""
    deepest = max(wanted)

    def at(layer: int) -> Visit:
        def keep(stream: Tensor) -> None:
            read[layer] = stream[places.rows, places.columns].to(torch.float32).cpu().numpy()
            if layer == deepest:
                raise _DeepEnoughError

        return keep

    return {layer: at(layer) for layer in wanted}


def _frozen(values: dict[tuple[int, str], NDArray[np.float32]]) -> Mapping[tuple[int, str], NDArray[np.float32]]:
    kept = {key: np.array(value, order="C") for key, value in values.items()}
    for value in kept.values():
        value.setflags(write=False)
    return kept
