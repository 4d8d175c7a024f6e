"""Reading the residual stream by replay: one forward pass over stored tokens, nothing kept but what was asked for."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gde.data.activations import EMBEDDING, ActivationRecord, CaptureRequest, TokenSequence
from gde.errors import GdeError

Prefix = tuple[tuple[int, ...], tuple[tuple[str, tuple[int, ...]], ...]]
"""Tokens up to the last place that is read, and the places. Causal attention makes all that follows irrelevant."""


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
        prefixes = [_prefix(sequence, request.marks) for sequence in sequences]
        marked = {prefix for prefix in prefixes if prefix[1] and request.layers}
        todo = sorted(marked, key=lambda prefix: (len(prefix[0]), prefix))
        records: dict[Prefix, ActivationRecord] = {}
        for start in range(0, len(todo), self._batch_size):
            batch = todo[start : start + self._batch_size]
            records.update(zip(batch, _capture_batch(self._model, layers, batch, request.layers), strict=True))
        return [records.get(prefix, ActivationRecord(values={})) for prefix in prefixes]


def decoder_layers(model: Any) -> Sequence[Any]:
    """The native decoder layers, first to last."""
    decoder = model.get_decoder()
    for name in ("layers", "h"):
        if hasattr(decoder, name):
            layers: Sequence[Any] = getattr(decoder, name)
            return layers
    raise GdeError(f"capture: found no list of decoder layers in {type(model).__name__}")


def _prefix(sequence: TokenSequence, marks: Sequence[str]) -> Prefix:
    places = tuple((mark, tuple(sequence.marks[mark])) for mark in marks if sequence.marks.get(mark))
    end = max((index for _, indices in places for index in indices), default=-1) + 1
    if end > len(sequence.tokens):
        raise ValueError(f"marks point to token {end - 1} of a sequence of {len(sequence.tokens)}")
    return tuple(sequence.tokens[:end]), places


def _capture_batch(
    model: Any, layers: Sequence[Any], batch: Sequence[Prefix], wanted: Sequence[int]
) -> Iterator[ActivationRecord]:
    width = max(len(tokens) for tokens, _ in batch)
    ids = torch.tensor([list(tokens) + [0] * (width - len(tokens)) for tokens, _ in batch], device=model.device)
    places = _places(batch, model.device)
    read: dict[int, NDArray[np.float32]] = {}
    with torch.inference_mode(), suppress(_DeepEnoughError), _reading(layers, wanted, places, read):
        model.get_decoder()(input_ids=ids, use_cache=False)
    edges = np.cumsum(places.pieces)[:-1]
    pieces = {layer: iter(np.split(values, edges)) for layer, values in read.items()}
    for _, marks in batch:
        yield ActivationRecord(values=_frozen({(n, mark): next(pieces[n]) for mark, _ in marks for n in wanted}))


def _places(batch: Sequence[Prefix], device: Any) -> _Places:
    found = [(row, indices) for row, (_, marks) in enumerate(batch) for _, indices in marks]
    rows = [row for row, indices in found for _ in indices]
    columns = [index for _, indices in found for index in indices]
    return _Places(
        rows=torch.tensor(rows, device=device),
        columns=torch.tensor(columns, device=device),
        pieces=[len(indices) for _, indices in found],
    )


@contextmanager
def _reading(
    layers: Sequence[Any], wanted: Sequence[int], places: _Places, read: dict[int, NDArray[np.float32]]
) -> Iterator[None]:
    """Hooks that fill `read` with (K, width) arrays and end the pass at the deepest wanted layer."""
    deepest = max(wanted)

    def keep(layer: int, hidden: Any) -> None:
        stream = hidden[0] if isinstance(hidden, tuple) else hidden
        read[layer] = stream[places.rows, places.columns].to(torch.float32).cpu().numpy()
        if layer == deepest:
            raise _DeepEnoughError

    def before(_module: Any, inputs: tuple[Any, ...]) -> None:
        keep(EMBEDDING, inputs)

    def after(layer: int) -> Callable[..., None]:
        return lambda _module, _inputs, output: keep(layer, output)

    with ExitStack() as hooks:
        for layer in set(wanted):
            first = layer == EMBEDDING
            hook = (
                layers[0].register_forward_pre_hook(before)
                if first
                else layers[layer].register_forward_hook(after(layer))
            )
            hooks.callback(hook.remove)
        yield


def _frozen(values: dict[tuple[int, str], NDArray[np.float32]]) -> Mapping[tuple[int, str], NDArray[np.float32]]:
    kept = {key: np.array(value, order="C") for key, value in values.items()}
    for value in kept.values():
        value.setflags(write=False)
    return kept
