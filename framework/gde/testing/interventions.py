"""What a model does with a request that would change its residual stream: refuse it, or do exactly that."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import EMBEDDING, KINDS, CaptureRequest, Intervention, InterventionKind, TokenSequence
from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.errors import GdeError
from gde.parts.language_model import LanguageModel, WhiteBox
from gde.seeding import generator
from gde.testing.promises import promise, promise_equal, promise_raises

MARK = "pre"
STRENGTH = 1e4
"""Of a vector that no activation comes near."""
RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""How much float arithmetic may differ."""
Stream = NDArray[np.float32]


def check_steered_answers(model: LanguageModel, request: ChatRequest) -> None:
    """A model refuses interventions, or its answers are changed by them and by nothing else.

    Raises:
        AssertionError: a promise is broken.
    """
    if not takes_interventions(model, request):
        return
    info = model.info
    promise(info.n_layers and info.width, "a model must refuse interventions, or its info tell n_layers and width")
    plain = replace(request, sampling=replace(request.sampling, temperature=0.0))
    vector = _vector(info, STRENGTH)
    there, back = (_steered(plain, change) for change in _opposite(info, vector))
    (first,) = asyncio.run(_answers(model, [plain]))
    (unmoved,) = asyncio.run(_answers(model, [_steered(plain, _change(0, vector * 0))]))
    promise_equal(first, unmoved, "adding a vector of zeros must change nothing")
    alone = [asyncio.run(_answers(model, [each]))[0] for each in (there, back)]
    told = "an intervention must change what is said: opposite vectors at the last layer gave the same"
    promise(alone[0].tokens != alone[1].tokens or alone[0].text != alone[1].text, told)
    together = asyncio.run(_answers(model, [plain, there, back, plain]))
    same = "a request with interventions must get the same completion in any batch, beside equal prompts without them"
    promise_equal([first, *alone, first], together, same)
    for what, change in _misfits(info):
        with promise_raises(GdeError, f"complete must raise GdeError for an intervention at {what}"):
            asyncio.run(model.complete(_steered(plain, change)))


def check_steered_replays(model: WhiteBox, sequences: Sequence[TokenSequence], request: ChatRequest) -> None:
    """What a model does with interventions when it answers, it does when it replays.

    Raises:
        AssertionError: a promise is broken.
    """
    info, sequence = model.info, sequences[0]
    if not takes_interventions(model, request):
        with promise_raises(GdeError, "a model that refuses interventions must refuse them in a replay"):
            _streams(model, _changed(sequence, _change(0, np.zeros(info.width))))
        return
    clean = _streams(model, sequence)
    for layer in {EMBEDDING, 0, info.n_layers - 1}:
        for kind in KINDS:
            _check_replay(model, sequence, clean, layer, kind)
        itself = Intervention(layer=layer, mark=MARK, kind="replace", vector=clean[layer])
        same = all(_close(one, clean[at]) for at, one in _streams(model, _changed(sequence, itself)).items())
        promise(same, f"replacing what stands at layer {layer} by itself must change nothing")
    change = _change(0, _vector(info, STRENGTH))
    (alone,) = model.capture([_changed(sequence, change)], _request(info))
    batch = model.capture([sequence, _changed(sequence, change), sequence], _request(info))
    expected = [clean, {layer: alone.values[layer, MARK] for layer in clean}, clean]
    for record, streams in zip(batch, expected, strict=True):
        same = all(_close(record.values[layer, MARK], stream) for layer, stream in streams.items())
        promise(same, "a replay with interventions must leave the same in any batch, beside equal tokens without them")
    for what, misfit in _misfits(info):
        with promise_raises(GdeError, f"capture must raise GdeError for an intervention at {what}"):
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
        raise AssertionError(f"a model must refuse interventions with a GdeError; got {reason}") from error
    return True


def _check_replay(
    model: WhiteBox, sequence: TokenSequence, clean: dict[int, Stream], layer: int, kind: InterventionKind
) -> None:
    """One intervention, larger than anything that is there."""
    size = max(1.0, float(np.abs(clean[layer]).max()))
    change = Intervention(layer=layer, mark=MARK, kind=kind, vector=_vector(model.info, 10 * size))
    where = f"{kind!r} at layer {layer}"
    before = (min(sequence.marks[MARK]) - 1,)
    marked = replace(sequence, marks={**sequence.marks, "before": before} if before[0] >= 0 else sequence.marks)
    changed = _streams(model, _changed(marked, change))
    expected = change.applied(clean[layer])
    promise(_close(changed[layer], expected), f"{where}: what is read at the layer must be what the change makes of it")
    lower = all(_close(stream, clean[at]) for at, stream in changed.items() if at < layer)
    promise(lower, f"{where}: layers below must stay as they are")
    higher = not any(_close(stream, clean[at]) for at, stream in changed.items() if at > layer)
    promise(higher, f"{where}: the change must reach the layers above")
    if kind == "project_out":
        twice = _streams(model, _changed(sequence, change, change))
        same = all(_close(stream, changed[at]) for at, stream in twice.items())
        promise(same, f"{where}: doing it twice must be doing it once")
    if "before" in marked.marks:
        untouched = _streams(model, marked, "before")
        earlier = _streams(model, _changed(marked, change), "before")
        same = all(_close(stream, untouched[at]) for at, stream in earlier.items())
        promise(same, f"{where}: tokens before the mark must stay as they are")


def _opposite(info: ModelInfo, vector: Stream) -> tuple[Intervention, Intervention]:
    """Whatever a normalising last step makes of one, it makes the opposite of the other."""
    top = info.n_layers - 1
    one, other = (Intervention(layer=top, mark=MARK, kind="replace", vector=each) for each in (vector, -vector))
    return one, other


def _misfits(info: ModelInfo) -> Sequence[tuple[str, Intervention]]:
    vector = _vector(info, 1.0)
    return (
        (f"layer {info.n_layers}, which is not there", _change(info.n_layers, vector)),
        ("a mark that is not there", Intervention(layer=0, mark="nowhere", kind="add", vector=vector)),
        ("a vector that is too wide", _change(0, np.ones(info.width + 1))),
    )


def _change(layer: int, vector: NDArray[np.floating]) -> Intervention:
    return Intervention(layer=layer, mark=MARK, kind="add", vector=vector.astype(np.float32))


def _vector(info: ModelInfo, scale: float) -> Stream:
    return (scale * generator(0, "intervention").normal(size=info.width)).astype(np.float32)


def _steered(request: ChatRequest, *changes: Intervention) -> ChatRequest:
    return replace(request, interventions=changes)


def _changed(sequence: TokenSequence, *changes: Intervention) -> TokenSequence:
    return replace(sequence, interventions=changes)


async def _answers(model: LanguageModel, asked: Sequence[ChatRequest]) -> list[Completion]:
    return [*await asyncio.gather(*map(model.complete, asked))]


def _request(info: ModelInfo, mark: str = MARK) -> CaptureRequest:
    return CaptureRequest(layers=(EMBEDDING, *range(info.n_layers)), marks=(mark,))


def _streams(model: WhiteBox, sequence: TokenSequence, mark: str = MARK) -> dict[int, Stream]:
    """Layer to the (tokens, width) activations at the mark."""
    (record,) = model.capture([sequence], _request(model.info, mark))
    return {layer: values for (layer, _), values in record.values.items()}


def _close(first: Stream, second: Stream) -> bool:
    """Equal but for rounding, on the scale of what is compared."""
    scale = float(np.abs(second).max())
    return bool(np.allclose(first, second, rtol=RELATIVE, atol=max(ABSOLUTE, RELATIVE * scale)))
