"""The check of interventions: a model refuses them, or changes its residual stream
exactly as asked.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

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
from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.errors import GdeError
from gde.parts.language_model import LanguageModel, WhiteBox
from gde.seeding import generator
from gde.testing.promises import promise, promise_equal, promise_raises

POSITION = "pre"
STRENGTH = 1e4
"""Length scale of a vector far larger than any activation."""
RELATIVE = 1e-3
ABSOLUTE = 1e-4
"""Tolerances of float arithmetic."""
Stream = NDArray[np.float32]


def check_steered_answers(model: LanguageModel, request: ChatRequest) -> None:
    """Check that a model refuses interventions, or that they and nothing else change
    its answers.

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

    plain = replace(request, sampling=replace(request.sampling, temperature=0.0))
    vector = _vector(info, STRENGTH)
    (first,) = asyncio.run(_answers(model, [plain]))
    (unmoved,) = asyncio.run(_answers(model, [_steered(plain, _change(0, vector * 0))]))
    promise_equal(first, unmoved, "adding a vector of zeros must change nothing")

    # A last step that normalises makes opposite outputs of opposite vectors, so at
    # least one answer must change.
    top = info.n_layers - 1
    there = _steered(
        plain, Intervention(layer=top, position=POSITION, kind="replace", vector=vector)
    )
    back = _steered(
        plain,
        Intervention(layer=top, position=POSITION, kind="replace", vector=-vector),
    )
    (one,) = asyncio.run(_answers(model, [there]))
    (other,) = asyncio.run(_answers(model, [back]))
    told = "an intervention must change what is said: opposite vectors at the last layer gave the same"
    promise(one.tokens != other.tokens or one.text != other.text, told)

    together = asyncio.run(_answers(model, [plain, there, back, plain]))
    same = "a request with interventions must get the same completion in any batch, beside equal prompts without them"
    promise_equal([first, one, other, first], together, same)
    for what, change in _misfits(info):
        with promise_raises(
            GdeError, f"complete must raise GdeError for an intervention at {what}"
        ):
            asyncio.run(model.complete(_steered(plain, change)))


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
            _streams(model, _changed(sequence, _change(0, np.zeros(info.width))))
        return

    clean = _streams(model, sequence)
    for layer in {EMBEDDING, 0, info.n_layers - 1}:
        for kind in KINDS:
            _check_replay(model, sequence, clean, layer, kind)
        itself = Intervention(
            layer=layer, position=POSITION, kind="replace", vector=clean[layer]
        )
        replaced = _streams(model, _changed(sequence, itself))
        same = all(_close(stream, clean[at]) for at, stream in replaced.items())
        promise(
            same,
            f"replacing what stands at layer {layer} by itself must change nothing",
        )

    steered = _changed(sequence, _change(0, _vector(info, STRENGTH)))
    alone = _streams(model, steered)
    batch = model.capture([sequence, steered, sequence], _request(info))
    expected = [clean, alone, clean]
    for record, streams in zip(batch, expected, strict=True):
        same = all(
            _close(record.values[layer, POSITION], stream)
            for layer, stream in streams.items()
        )
        promise(
            same,
            "a replay with interventions must leave the same in any batch, beside equal tokens without them",
        )

    for what, misfit in _misfits(info):
        with promise_raises(
            GdeError, f"capture must raise GdeError for an intervention at {what}"
        ):
            _streams(model, _changed(sequence, misfit))


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


def _check_replay(
    model: WhiteBox,
    sequence: TokenSequence,
    clean: dict[int, Stream],
    layer: int,
    kind: InterventionKind,
) -> None:
    """Replay one intervention that is larger than any activation at the layer."""
    size = max(1.0, float(np.abs(clean[layer]).max()))
    change = Intervention(
        layer=layer, position=POSITION, kind=kind, vector=_vector(model.info, 10 * size)
    )
    where = f"{kind!r} at layer {layer}"

    # One more position, for the token before the intervention, where there is one.
    before = min(sequence.positions[POSITION]) - 1
    marked = sequence
    if before >= 0:
        marked = replace(
            sequence, positions={**sequence.positions, "before": (before,)}
        )

    changed = _streams(model, _changed(marked, change))
    expected = change.applied(clean[layer])
    promise(
        _close(changed[layer], expected),
        f"{where}: what is read at the layer must be what the change makes of it",
    )
    lower = all(
        _close(stream, clean[at]) for at, stream in changed.items() if at < layer
    )
    promise(lower, f"{where}: layers below must stay as they are")
    higher = not any(
        _close(stream, clean[at]) for at, stream in changed.items() if at > layer
    )
    promise(higher, f"{where}: the change must reach the layers above")

    if kind == "project_out":
        twice = _streams(model, _changed(sequence, change, change))
        same = all(_close(stream, changed[at]) for at, stream in twice.items())
        promise(same, f"{where}: doing it twice must be doing it once")
    if "before" in marked.positions:
        untouched = _streams(model, marked, "before")
        earlier = _streams(model, _changed(marked, change), "before")
        same = all(_close(stream, untouched[at]) for at, stream in earlier.items())
        promise(same, f"{where}: tokens before the position must stay as they are")


def _misfits(info: ModelInfo) -> Sequence[tuple[str, Intervention]]:
    """Interventions that no model can carry out, each with its description."""
    vector = _vector(info, 1.0)
    return (
        (f"layer {info.n_layers}, which is not there", _change(info.n_layers, vector)),
        (
            "a position that is not there",
            Intervention(layer=0, position="nowhere", kind="add", vector=vector),
        ),
        ("a vector that is too wide", _change(0, np.ones(info.width + 1))),
    )


def _change(layer: int, vector: NDArray[np.floating]) -> Intervention:
    return Intervention(
        layer=layer, position=POSITION, kind="add", vector=vector.astype(np.float32)
    )


def _vector(info: ModelInfo, scale: float) -> Stream:
    return (scale * generator(0, "intervention").normal(size=info.width)).astype(
        np.float32
    )


def _steered(request: ChatRequest, *changes: Intervention) -> ChatRequest:
    return replace(request, interventions=changes)


def _changed(sequence: TokenSequence, *changes: Intervention) -> TokenSequence:
    return replace(sequence, interventions=changes)


async def _answers(
    model: LanguageModel, asked: Sequence[ChatRequest]
) -> list[Completion]:
    return list(await asyncio.gather(*map(model.complete, asked)))


def _request(info: ModelInfo, position: str = POSITION) -> CaptureRequest:
    return CaptureRequest(
        layers=(EMBEDDING, *range(info.n_layers)), positions=(position,)
    )


def _streams(
    model: WhiteBox, sequence: TokenSequence, position: str = POSITION
) -> dict[int, Stream]:
    """Layer to the (tokens, width) activations at the position."""
    (record,) = model.capture([sequence], _request(model.info, position))
    return {layer: values for (layer, _), values in record.values.items()}


def _close(first: Stream, second: Stream) -> bool:
    """Whether two streams are equal up to rounding, on the scale of their values."""
    scale = float(np.abs(second).max())
    return bool(
        np.allclose(first, second, rtol=RELATIVE, atol=max(ABSOLUTE, RELATIVE * scale))
    )
