"""Reading the residual stream by replay: a forward pass over stored tokens.

Only the requested activations are kept.
"""

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
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

Stream = NDArray[np.float32]


class _Prefix(NamedTuple):
    """The replayed part of a sequence: with causal attention, nothing after it matters."""

    tokens: tuple[int, ...]
    """Tokens up to the last one that is read or changed."""
    places: tuple[tuple[str, tuple[int, ...]], ...]
    """The requested positions, each with its indices into `tokens`."""
    changes: tuple[Change, ...]
    """Interventions at layers up to the deepest requested one."""


class _DeepEnoughError(Exception):
    """Ends a forward pass after the deepest requested layer."""


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
        """Return the activations of every sequence, in order.

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
        todo: list[_Prefix] = []
        if request.layers:
            todo = [prefix for prefix in dict.fromkeys(prefixes) if prefix.places]
            todo.sort(key=lambda each: (len(each.tokens), each.tokens, each.places))

        records = dict.fromkeys(prefixes, ActivationRecord(values={}))
        for start in range(0, len(todo), self._batch_size):
            batch = todo[start : start + self._batch_size]
            captured = _capture_batch(self._model, layers, batch, request.layers)
            records.update(zip(batch, captured, strict=True))
        return [records[prefix] for prefix in prefixes]

    @torch.inference_mode()
    def logprobs(
        self, prompt: Sequence[int], tokens: Sequence[int]
    ) -> NDArray[np.float64]:
        """(N,) log-probabilities of the N tokens of a completion, before temperature."""
        device = self._model.device
        ids = torch.tensor([*prompt, *tokens], device=device)
        # The logits at a token are those of the next one.
        output = self._model(
            input_ids=ids[None], use_cache=False, logits_to_keep=len(tokens) + 1
        )
        logprobs = output.logits[0, :-1].double().log_softmax(dim=-1)
        of_tokens = logprobs.gather(-1, ids[len(prompt) :, None])[:, 0]
        found: NDArray[np.float64] = of_tokens.cpu().numpy()
        return found


def _prefix(sequence: TokenSequence, request: CaptureRequest) -> _Prefix:
    places = []
    for position in request.positions:
        if sequence.positions.get(position):
            places.append((position, tuple(sequence.positions[position])))

    deepest = max(request.layers, default=EMBEDDING)
    reached = [each for each in sequence.interventions if each.layer <= deepest]
    changes = Change.of(reached, sequence.positions)

    used = [indices for _, indices in places] + [change.places for change in changes]
    end = max((max(indices) + 1 for indices in used if indices), default=0)
    if end > len(sequence.tokens):
        raise ValueError(
            f"positions point to token {end - 1} of a sequence of {len(sequence.tokens)}"
        )
    return _Prefix(tuple(sequence.tokens[:end]), tuple(places), changes)


def _capture_batch(
    model: Any, layers: Sequence[Any], batch: Sequence[_Prefix], wanted: Sequence[int]
) -> list[ActivationRecord]:
    """Return the activations of a batch of prefixes at the requested layers."""
    ids = torch.zeros(len(batch), max(len(each.tokens) for each in batch)).long()
    for row, prefix in enumerate(batch):
        ids[row, : len(prefix.tokens)] = torch.tensor(prefix.tokens)

    # Interventions come first, so that what is read at a layer is read after them.
    records: list[dict[tuple[int, str], Stream]] = [{} for _ in batch]
    changes = changing(model, [prefix.changes for prefix in batch], [0] * len(batch))
    reading = visiting(layers, _readers(batch, wanted, records))
    with torch.inference_mode(), changes, suppress(_DeepEnoughError), reading:
        model.get_decoder()(input_ids=ids.to(model.device), use_cache=False)
    return [ActivationRecord(values=values) for values in records]


def _readers(
    batch: Sequence[_Prefix],
    wanted: Sequence[int],
    records: Sequence[dict[tuple[int, str], Stream]],
) -> Mapping[int, Visit]:
    """Make visitors that record, and end the pass at the deepest requested layer."""

    def at(layer: int) -> Visit:
        def keep(stream: Tensor) -> None:
            for row, prefix in enumerate(batch):
                for position, places in prefix.places:
                    read = stream[row, list(places)].to(torch.float32).cpu().numpy()
                    read.setflags(write=False)
                    records[row][layer, position] = read
            if layer == max(wanted):
                raise _DeepEnoughError

        return keep

    return {layer: at(layer) for layer in wanted}
