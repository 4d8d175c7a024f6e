"""The check of interventions: a model refuses them, or carries them out exactly."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import (
    EMBEDDING,
    KINDS,
    CaptureRequest,
    Intervention,
    InterventionKind,
    TokenSequence,
)
from gde.data.arrays import Floats
from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.data.place import ATTENTION, HEAD, MLP, RESIDUAL
from gde.errors import GdeError
from gde.parts.language_model import LanguageModel, WhiteBox
from gde.seeding import generator
from gde.testing.promises import promise, promise_equal, promise_raises

POSITION = "pre"
STRENGTH = 1e4
"""Scale of a vector far longer than any activation."""
RELATIVE = 1e-3
ABSOLUTE = 1e-4
"""Tolerances of float arithmetic."""
Stream = Floats


async def complete_all(
    model: LanguageModel, asked: Sequence[ChatRequest]
) -> list[Completion]:
    """The completions of requests that are sent at once."""
    return list(await asyncio.gather(*map(model.complete, asked)))


def check_steered_answers(model: LanguageModel, request: ChatRequest) -> None:
    """Check that interventions change the answers to their own requests only.

    A model may also refuse them.

    Raises:
        AssertionError: a promise is broken.
    """
    if not takes_interventions(model, request):
        return
    info = model.info
    promise(
        info.n_layers and info.width,
        "a model must refuse interventions, or its info tell n_layers and width",
    )

    # A last step that normalises gives opposite outputs for opposite vectors, so at
    # least one answer must change.
    top = info.n_layers - 1
    vector = _vector(info, STRENGTH)
    plain = replace(request, sampling=replace(request.sampling, temperature=0.0))
    there = _steered(plain, _change(top, vector, "replace"))
    back = _steered(plain, _change(top, -vector, "replace"))
    alone = [asyncio.run(model.complete(each)) for each in (plain, there, back)]
    _, one, other = alone
    promise(
        one.tokens != other.tokens or one.text != other.text,
        "an intervention must change the answer: opposite vectors at the last layer gave the same",
    )
    together = asyncio.run(complete_all(model, [plain, there, back]))
    promise_equal(
        alone,
        together,
        "a request with interventions must get the same completion in any batch, beside equal prompts without them",
    )
    for what, change in _misfits(info):
        with promise_raises(
            GdeError, f"complete must raise GdeError for an intervention at {what}"
        ):
            asyncio.run(model.complete(_steered(plain, change)))


def check_prefilled_answers(model: LanguageModel, request: ChatRequest) -> None:
    """Check that a completion begins with its prefill, and goes on as it would.

    A model may also refuse a prefill.

    Raises:
        AssertionError: a promise is broken.
    """
    whole = asyncio.run(model.complete(request))
    half = whole.tokens[: len(whole.tokens) // 2]
    try:
        same = asyncio.run(model.complete(replace(request, prefill=half)))
        other = asyncio.run(model.complete(replace(request, prefill=half[::-1])))
    except GdeError:
        return
    promise_equal(
        whole, same, "a completion that is given its own first tokens must be the same"
    )
    promise_equal(
        half[::-1],
        other.tokens[: len(half)],
        "a model must refuse a prefill, or begin its completion with it",
    )


def check_steered_replays(
    model: WhiteBox, sequences: Sequence[TokenSequence], request: ChatRequest
) -> None:
    """Check that a model treats interventions in replays as in answers.

    Raises:
        AssertionError: a promise is broken.
    """
    info = model.info
    sequence = sequences[0]
    if not takes_interventions(model, request):
        with promise_raises(
            GdeError, "a model that refuses interventions must refuse them in a replay"
        ):
            harmless = _change(0, np.zeros(info.width))
            _streams(model, _changed(sequence, harmless), RESIDUAL)
        return

    stream = _streams(model, sequence, RESIDUAL)
    for layer, kind in product({EMBEDDING, 0, info.n_layers - 1}, KINDS):
        _check_replay(model, sequence, stream, layer, kind)
    for place in _places(info):
        clean = _streams(model, sequence, place)
        promise(
            not any(np.array_equal(clean[at], stream[at]) for at in clean),
            f"what is read at {place} must not be the residual stream",
        )
        # What a head gives along one direction may be too little to be seen above.
        kinds = [kind for kind in KINDS if kind != "project_out"]
        for layer, kind in product({0, info.n_layers - 1}, kinds):
            _check_replay(model, sequence, clean, layer, kind, place)

    for what, misfit in _misfits(info):
        with promise_raises(
            GdeError, f"capture must raise GdeError for an intervention at {what}"
        ):
            _streams(model, _changed(sequence, misfit), RESIDUAL)


def takes_interventions(model: LanguageModel, request: ChatRequest) -> bool:
    """Whether the model answers a request with a harmless intervention.

    Raises:
        AssertionError: it neither answers nor raises a GdeError.
    """
    harmless = _change(0, np.zeros(max(1, model.info.width)))
    try:
        asyncio.run(model.complete(_steered(request, harmless)))
    except GdeError:
        return False
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AssertionError(
            f"a model must refuse interventions with a GdeError; got {reason}"
        ) from error
    return True


def steered(model: WhiteBox, sequence: TokenSequence) -> TokenSequence:
    """The sequence with a change that is far larger than any activation."""
    return _changed(sequence, _change(0, _vector(model.info, STRENGTH)))


def _check_replay(
    model: WhiteBox,
    sequence: TokenSequence,
    clean: dict[int, Stream],
    layer: int,
    kind: InterventionKind,
    place: str = RESIDUAL,
) -> None:
    """Replay one intervention that is larger than any activation at the layer."""
    size = max(1.0, float(np.abs(clean[layer]).max()))
    vector = _vector(model.info, 10 * size)[: model.info.width_at(place)]
    change = replace(_change(layer, vector, kind), place=place)
    where = f"{kind!r} at layer {layer}"
    changed = _streams(model, _changed(sequence, change), place)
    promise(
        _close(changed[layer], change.applied(clean[layer])),
        f"{where}: activations of the layer must be changed as Intervention.applied does",
    )
    for at, stream in changed.items():
        if at < layer:
            promise(_close(stream, clean[at]), f"{where}: must not change layers below")
        elif at > layer:
            promise(
                not _close(stream, clean[at]), f"{where}: must change the layers above"
            )

    before = min(sequence.positions[POSITION]) - 1
    if before >= 0:
        marked = replace(
            sequence, positions={**sequence.positions, "before": (before,)}
        )
        untouched = _streams(model, marked, place, "before")
        earlier = _streams(model, _changed(marked, change), place, "before")
        same = all(_close(stream, untouched[at]) for at, stream in earlier.items())
        promise(same, f"{where}: must not change tokens before the position")


def _misfits(info: ModelInfo) -> Iterator[tuple[str, Intervention]]:
    """Interventions that no model can carry out, each with its description."""
    change = _change(0, _vector(info, 1.0))
    missing = info.n_layers
    yield f"layer {missing}, which is not there", replace(change, layer=missing)
    yield "a position that is not there", replace(change, position="nowhere")
    head = f"{HEAD}{info.n_heads}"
    yield "a place that is not there", replace(change, place=head)
    yield "a vector that is too wide", _change(0, np.ones(info.width + 1))


def _change(
    layer: int, vector: NDArray[np.floating], kind: InterventionKind = "add"
) -> Intervention:
    return Intervention(
        layer=layer, position=POSITION, kind=kind, vector=vector.astype(np.float32)
    )


def _vector(info: ModelInfo, scale: float) -> Stream:
    drawn = generator(0, "intervention").normal(size=info.width)
    return (scale * drawn).astype(np.float32)


def _steered(request: ChatRequest, change: Intervention) -> ChatRequest:
    return replace(request, interventions=(change,))


def _changed(sequence: TokenSequence, change: Intervention) -> TokenSequence:
    return replace(sequence, interventions=(change,))


def _places(info: ModelInfo) -> tuple[str, ...]:
    """The places of a layer beside the residual stream."""
    if not info.n_heads:
        return ()
    return (ATTENTION, MLP, f"{HEAD}0", f"{HEAD}{info.n_heads - 1}")


def _streams(
    model: WhiteBox, sequence: TokenSequence, place: str, position: str = POSITION
) -> dict[int, Stream]:
    """Layer to the (tokens, width) activations at the place and position."""
    layers = tuple(range(model.info.n_layers))
    if place == RESIDUAL:
        layers = (EMBEDDING, *layers)
    request = CaptureRequest(layers=layers, positions=(position,), place=place)
    (record,) = model.capture([sequence], request)
    return {layer: values for (layer, _), values in record.values.items()}


def _close(first: Stream, second: Stream) -> bool:
    """Whether two streams are equal up to rounding, on the scale of their values."""
    scale = float(np.abs(second).max())
    return np.allclose(
        first, second, rtol=RELATIVE, atol=max(ABSOLUTE, RELATIVE * scale)
    )
