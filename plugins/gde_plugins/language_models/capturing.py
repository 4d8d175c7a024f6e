"""Reading activations by replay: a forward pass over stored tokens.

Only the requested activations are kept. The same pass gives the log-probabilities of
scored tokens.
"""

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.data.arrays import Floats
from gde.data.place import RESIDUAL
from gde.errors import GdeError
from gde_plugins.language_models.places import At, Site, decoder_layers, sites_of
from gde_plugins.language_models.residual_stream import (
    Change,
    Visit,
    changing,
    visiting,
)

Stream = Floats


class _Prefix(NamedTuple):
    """The replayed part of a sequence: with causal attention, nothing after it matters."""

    tokens: tuple[int, ...]
    """Tokens up to the last one that is read or changed."""
    places: tuple[tuple[str, tuple[int, ...]], ...]
    """The requested positions, each with its indices into `tokens`."""
    changes: tuple[Change, ...]
    """Interventions at layers up to the deepest requested one."""
    scored: int
    """Number of last tokens that are scored."""


class _Scores(NamedTuple):
    """As in an `ActivationRecord`."""

    logprobs: tuple[float, ...] = ()
    deficits: tuple[float, ...] = ()


class _DeepEnoughError(Exception):
    """Ends a forward pass after the deepest requested layer."""


class Reader:
    """Replays sequences through a model.

    On a CPU every sequence runs alone: batches are no faster there, and no activation
    can depend on its company. A float64 model is read in float32, the precision in
    which activations are kept, in a third of the time.
    """

    def __init__(self, model: Any, batch_size: int) -> None:
        self.original = model
        self._batch_size = 1 if model.device.type == "cpu" else batch_size

    @cached_property
    def _model(self) -> Any:
        if self.original.dtype != torch.float64:
            return self.original
        return copy.deepcopy(self.original).float()

    def capture(
        self, sequences: Sequence[TokenSequence], request: CaptureRequest
    ) -> list[ActivationRecord]:
        """Return the activations of every sequence, in order.

        Equal prefixes run once. Batches hold sequences of similar length, padded on the
        right, where causal attention cannot see the padding. Scored sequences run alone,
        because logits take much memory.

        Raises:
            GdeError: a layer that the model does not have.
        """
        n_layers = len(decoder_layers(self._model))
        for layer in request.layers:
            if not EMBEDDING <= layer < n_layers:
                raise GdeError(
                    f"capture: wanted layers from {EMBEDDING} (embeddings) to {n_layers - 1}, got {layer}"
                )
        # Once for all passes: they are searched for among all modules.
        read = {(layer, request.place) for layer in request.layers}
        deepest = {(layer, RESIDUAL) for layer in sorted(request.layers)[-1:]}
        sites = sites_of(self._model, read | deepest)

        prefixes = [_prefix(sequence, request) for sequence in sequences]
        todo: list[_Prefix] = []
        for prefix in dict.fromkeys(prefixes):
            if prefix.scored or (prefix.places and request.layers):
                todo.append(prefix)
        todo.sort(key=lambda each: (len(each.tokens), each.tokens, each.places))
        size = 1 if any(prefix.scored for prefix in todo) else self._batch_size

        records = dict.fromkeys(prefixes, ActivationRecord(values={}))
        for start in range(0, len(todo), size):
            batch = todo[start : start + size]
            captured = _capture_batch(self._model, sites, batch, request)
            records.update(zip(batch, captured, strict=True))
        return [records[prefix] for prefix in prefixes]


def _prefix(sequence: TokenSequence, request: CaptureRequest) -> _Prefix:
    places = []
    for position in request.positions:
        if sequence.positions.get(position):
            places.append((position, tuple(sequence.positions[position])))

    deepest = max(request.layers, default=EMBEDDING)
    reached = sequence.interventions
    if not sequence.scored:
        reached = tuple(each for each in reached if each.layer <= deepest)
    changes = Change.of(reached, sequence.positions)

    used = [indices for _, indices in places] + [change.places for change in changes]
    end = max((max(indices) + 1 for indices in used if indices), default=0)
    if end > len(sequence.tokens):
        raise ValueError(
            f"positions point to token {end - 1} of a sequence of {len(sequence.tokens)}"
        )
    if sequence.scored:
        end = len(sequence.tokens)
    return _Prefix(
        tuple(sequence.tokens[:end]), tuple(places), changes, sequence.scored
    )


def _capture_batch(
    model: Any,
    sites: Mapping[At, Site],
    batch: Sequence[_Prefix],
    request: CaptureRequest,
) -> list[ActivationRecord]:
    """Return the activations of a batch of prefixes at the requested places."""
    ids = torch.zeros(len(batch), max(len(each.tokens) for each in batch)).long()
    for row, prefix in enumerate(batch):
        ids[row, : len(prefix.tokens)] = torch.tensor(prefix.tokens)

    # Interventions come first, so that what is read at a place is read after them.
    records: list[dict[tuple[int, str], Stream]] = [{} for _ in batch]
    changes = changing(model, [prefix.changes for prefix in batch], [0] * len(batch))
    visits = [*_readers(batch, request, records).items()]
    scored = batch[0].scored
    if not scored:
        visits.append(((max(request.layers), RESIDUAL), _end))
    reading = visiting((sites[at], visit) for at, visit in visits)
    scores = _Scores()
    with torch.inference_mode(), changes, suppress(_DeepEnoughError), reading:
        if scored:
            scores = _score(model, ids.to(model.device), scored)
        else:
            model.get_decoder()(input_ids=ids.to(model.device), use_cache=False)
    return [ActivationRecord(values=values, **scores._asdict()) for values in records]


def _score(model: Any, ids: Tensor, scored: int) -> _Scores:
    """Run a pass over (1, N) tokens, and score the last ones."""
    output = model(input_ids=ids, use_cache=False, logits_to_keep=scored + 1)
    # The logits at a token are those of the next one.
    logits = output.logits[0, :-1].float()
    of_tokens = logits.gather(-1, ids[0, -scored:, None])[:, 0]
    logprobs = (of_tokens - logits.logsumexp(dim=-1)).clamp(max=0)
    # A server that follows the checkpoint draws others than the likeliest tokens.
    is_plain = model.generation_config.repetition_penalty in (None, 1.0)
    deficits = logits.amax(dim=-1) - of_tokens if is_plain else torch.empty(0)
    return _Scores(tuple(logprobs.tolist()), tuple(deficits.tolist()))


def _readers(
    batch: Sequence[_Prefix],
    request: CaptureRequest,
    records: Sequence[dict[tuple[int, str], Stream]],
) -> Mapping[At, Visit]:
    """Make visitors that record."""

    def at(layer: int) -> Visit:
        def keep(stream: Tensor) -> None:
            for row, prefix in enumerate(batch):
                for position, places in prefix.places:
                    read = stream[row, list(places)].to(torch.float32).cpu().numpy()
                    read.setflags(write=False)
                    records[row][layer, position] = read

        return keep

    return {(layer, request.place): at(layer) for layer in request.layers}


def _end(_: Tensor) -> None:
    raise _DeepEnoughError
