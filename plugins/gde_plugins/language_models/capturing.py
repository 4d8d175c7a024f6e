"""Reading the residual stream by replay: one forward pass over stored tokens, which
keeps only what was asked for.
"""

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

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.errors import GdeError
from gde_plugins.language_models.residual_stream import (
    Change,
    Visit,
    changing,
    decoder_layers,
    visiting,
)


class _Prefix(NamedTuple):
    """The part of a sequence that is replayed: with causal attention, nothing after it
    matters.
    """

    tokens: tuple[int, ...]
    """Up to the last token that is read or changed."""
    places: tuple[tuple[str, tuple[int, ...]], ...]
    """The positions that are read, each with its indices into `tokens`."""
    changes: tuple[Change, ...]
    """The interventions at layers up to the deepest that is read."""


class _DeepEnoughError(Exception):
    """Ends a forward pass after the deepest layer that was asked for."""


@dataclass(frozen=True, kw_only=True)
class _Places:
    """The K tokens of a batch that are read, sequence by sequence and position by
    position.
    """

    rows: Tensor
    """(K,) index of the sequence."""
    columns: Tensor
    """(K,) index of the token."""
    pieces: Sequence[int]
    """The number of tokens of each position of each sequence; they sum to K."""


class Reader:
    """Replays sequences through a model.

    On a CPU every sequence runs alone: batches are no faster there, and no activation
    can depend on its company. A float64 model is read in float32, the precision in
    which activations are kept, in a third of the time.
    """

    def __init__(self, model: Any, batch_size: int) -> None:
        self._original = model
        self._batch_size = 1 if model.device.type == "cpu" else batch_size

    @cached_property
    def _model(self) -> Any:
        if self._original.dtype != torch.float64:
            return self._original
        return copy.deepcopy(self._original).float()

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        """The activations of every sequence, in order.

        Equal prefixes run once. Batches hold sequences of similar length, padded on the
        right, where causal attention cannot see the padding. No logits are computed.

        Raises:
            GdeError: a layer that the model does not have.
        """
        layers = decoder_layers(self._model)
        for layer in request.layers:
            if not EMBEDDING <= layer < len(layers):
                raise GdeError(
                    f"capture: wanted layers from {EMBEDDING} (embeddings) to {len(layers) - 1}, got {layer}"
                )

        prefixes = [_prefix(sequence, request) for sequence in sequences]
        distinct = dict.fromkeys(
            prefix for prefix in prefixes if prefix.places and request.layers
        )
        todo = sorted(
            distinct,
            key=lambda prefix: (len(prefix.tokens), prefix.tokens, prefix.places),
        )

        records: dict[_Prefix, ActivationRecord] = {}
        for start in range(0, len(todo), self._batch_size):
            batch = todo[start : start + self._batch_size]
            records.update(
                zip(
                    batch,
                    _capture_batch(self._model, layers, batch, request.layers),
                    strict=True,
                )
            )
        return [records.get(prefix, ActivationRecord(values={})) for prefix in prefixes]


def _prefix(sequence: TokenSequence, request: CaptureRequest) -> _Prefix:
    places = tuple(
        (position, tuple(sequence.positions[position]))
        for position in request.positions
        if sequence.positions.get(position)
    )

    deepest = max(request.layers, default=EMBEDDING)
    reached = [each for each in sequence.interventions if each.layer <= deepest]
    changes = Change.of(reached, sequence.positions)

    used = [indices for _, indices in places] + [change.places for change in changes]
    end = max((index + 1 for indices in used for index in indices), default=0)
    if end > len(sequence.tokens):
        raise ValueError(
            f"positions point to token {end - 1} of a sequence of {len(sequence.tokens)}"
        )
    return _Prefix(tokens=tuple(sequence.tokens[:end]), places=places, changes=changes)


def _capture_batch(
    model: Any, layers: Sequence[Any], batch: Sequence[_Prefix], wanted: Sequence[int]
) -> Iterator[ActivationRecord]:
    """The activations of a batch of prefixes at the wanted layers."""
    longest = max(len(prefix.tokens) for prefix in batch)
    padded = [
        [*prefix.tokens, *[0] * (longest - len(prefix.tokens))] for prefix in batch
    ]
    ids = torch.tensor(padded, device=model.device)
    places = _places(batch, model.device)

    # Interventions come first, so that what is read at a layer is read after them.
    read: dict[int, NDArray[np.float32]] = {}
    changes = changing(model, [prefix.changes for prefix in batch], [0] * len(batch))
    reading = visiting(layers, _readers(wanted, places, read))
    with torch.inference_mode(), changes, suppress(_DeepEnoughError), reading:
        model.get_decoder()(input_ids=ids, use_cache=False)

    edges = np.cumsum(places.pieces)[:-1]
    pieces = {layer: iter(np.split(values, edges)) for layer, values in read.items()}
    for prefix in batch:
        values = {}
        for position, _ in prefix.places:
            for layer in wanted:
                values[layer, position] = next(pieces[layer])
        yield ActivationRecord(values=_frozen(values))


def _places(batch: Sequence[_Prefix], device: Any) -> _Places:
    rows: list[int] = []
    columns: list[int] = []
    pieces: list[int] = []
    for row, prefix in enumerate(batch):
        for _, indices in prefix.places:
            rows += [row] * len(indices)
            columns += indices
            pieces.append(len(indices))
    return _Places(
        rows=torch.tensor(rows, device=device),
        columns=torch.tensor(columns, device=device),
        pieces=pieces,
    )


def _readers(
    wanted: Sequence[int], places: _Places, read: dict[int, NDArray[np.float32]]
) -> dict[int, Visit]:
    """Visitors that fill `read` with (K, width) arrays and end the pass at the deepest
    wanted layer.
    """
    deepest = max(wanted)

    def at(layer: int) -> Visit:
        def keep(stream: Tensor) -> None:
            read[layer] = (
                stream[places.rows, places.columns].to(torch.float32).cpu().numpy()
            )
            if layer == deepest:
                raise _DeepEnoughError

        return keep

    return {layer: at(layer) for layer in wanted}


def _frozen(
    values: dict[tuple[int, str], NDArray[np.float32]],
) -> Mapping[tuple[int, str], NDArray[np.float32]]:
    kept = {}
    for key, value in values.items():
        # A copy, because a view would keep the whole batch in memory.
        array = np.array(value, order="C")
        array.setflags(write=False)
        kept[key] = array
    return kept
