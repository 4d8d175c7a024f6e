"""The check of models whose activations can be read
(`gde.parts.language_model.WhiteBox`).
"""

import asyncio
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.data.completion import ChatRequest, Completion
from gde.errors import GdeError
from gde.parts.language_model import WhiteBox
from gde.testing.interventions import check_steered_replays
from gde.testing.language_model import check_language_model, requests
from gde.testing.promises import (
    promise,
    promise_equal,
    promise_protocol,
    promise_raises,
)

TEXT = "# A _ G #\n0 1 2\n"
RELATIVE = 1e-3
ABSOLUTE = 1e-4
"""Tolerances of float arithmetic between batches."""


def check_white_box(
    make: Callable[[], WhiteBox], asked: Sequence[ChatRequest] = ()
) -> None:
    """Check a language model, then replay its answers and check every promise of
    `WhiteBox`.

    Args:
        make: gives a new model.
        asked: the requests to try; by default those of `check_language_model`.

    Raises:
        AssertionError: a promise is broken.
    """
    check_language_model(make, asked)
    model = make()
    promise_protocol(model, WhiteBox)
    info = model.info
    promise(
        info.n_layers > 0 and info.width > 0,
        f"info must tell n_layers and width, got {info.n_layers}, {info.width}",
    )

    asked = asked or requests()
    sequences = [
        _sequence(completion) for completion in asyncio.run(_ask(model, asked))
    ]
    _check_capture(model, sequences)
    _check_layers(model, sequences)
    _check_tokenize(model)
    _check_untrained(model, sequences)
    check_steered_replays(model, sequences, asked[0])
    model.close()


async def _ask(model: WhiteBox, asked: Sequence[ChatRequest]) -> list[Completion]:
    return list(await asyncio.gather(*map(model.complete, asked)))


def _sequence(completion: Completion) -> TokenSequence:
    promise(
        completion.prompt_tokens,
        "a completion of a white box must hold the prompt's token ids",
    )
    closing = completion.positions.get("pre")
    promise(
        closing,
        "a completion of a white box must name the position `pre`, which closes the prompt",
    )
    return TokenSequence(
        tokens=completion.prompt_tokens + completion.tokens,
        positions=completion.positions,
    )


def _check_capture(model: WhiteBox, sequences: Sequence[TokenSequence]) -> None:
    request = CaptureRequest(layers=(EMBEDDING, 0, model.info.n_layers - 1))
    together = model.capture(sequences, request)
    promise_equal(
        len(together), len(sequences), "capture must give one record a sequence"
    )
    for sequence, record in zip(sequences, together, strict=True):
        _check_record(model, sequence, request, record)
        (alone,) = model.capture([sequence], request)
        close = all(
            _close(record.values[place], alone.values[place]) for place in alone.values
        )
        promise(close, "a sequence must leave the same activations in any batch")

    shortened = TokenSequence(
        tokens=sequences[0].tokens, positions={"pre": sequences[0].positions["pre"]}
    )
    (record,) = model.capture([shortened], request)
    positions = {position for _, position in record.values}
    promise_equal(
        positions, {"pre"}, "capture must leave out positions that the sequence lacks"
    )


def _check_record(
    model: WhiteBox,
    sequence: TokenSequence,
    request: CaptureRequest,
    record: ActivationRecord,
) -> None:
    positions = [
        position for position in request.positions if sequence.positions.get(position)
    ]
    wanted = set(product(request.layers, positions))
    promise_equal(
        set(record.values),
        wanted,
        "capture must keep exactly the asked-for layers at the positions there are",
    )
    for (layer, position), values in record.values.items():
        where = f"layer {layer} at {position!r}"
        shape = (len(sequence.positions[position]), model.info.width)
        promise_equal(
            values.shape,
            shape,
            f"activations of {where} must be (tokens of the position, width)",
        )
        promise_equal(
            values.dtype,
            np.dtype(np.float32),
            f"activations of {where} must be float32",
        )
        promise(values.flags.c_contiguous, f"activations of {where} must be C-ordered")
        promise(not values.flags.writeable, f"activations of {where} must be read-only")
        promise(np.isfinite(values).all(), f"activations of {where} must be finite")


def _check_layers(model: WhiteBox, sequences: Sequence[TokenSequence]) -> None:
    beyond = CaptureRequest(layers=(model.info.n_layers,))
    with promise_raises(
        GdeError,
        f"capture must raise GdeError for layer {model.info.n_layers}, which is not there",
    ):
        model.capture(sequences[:1], beyond)


def _check_tokenize(model: WhiteBox) -> None:
    found = model.tokenize(TEXT)
    promise_equal(
        len(found.ids), len(found.spans), "tokenize must give one span a token"
    )
    inside = all(0 <= start <= end <= len(TEXT) for start, end in found.spans)
    ordered = list(found.spans) == sorted(found.spans)
    promise(
        inside and ordered,
        f"spans must be ordered character ranges of the text, got {found.spans}",
    )

    covered: set[int] = set()
    for start, end in found.spans:
        covered.update(range(start, end))
    unseen = [
        place
        for place in range(len(TEXT))
        if place not in covered and not TEXT[place].isspace()
    ]
    promise(not unseen, f"spans must cover the text, characters {unseen} are in none")


def _check_untrained(model: WhiteBox, sequences: Sequence[TokenSequence]) -> None:
    request = CaptureRequest(layers=(model.info.n_layers - 1,), positions=("pre",))
    first = model.untrained(0)
    second = model.untrained(0)
    same_shape = (first.info.n_layers, first.info.width) == (
        model.info.n_layers,
        model.info.width,
    )
    promise(same_shape, "untrained must have the same architecture")
    promise_equal(
        first.tokenize(TEXT),
        model.tokenize(TEXT),
        "untrained must have the same tokenizer",
    )

    place = (model.info.n_layers - 1, "pre")
    (trained,) = model.capture(sequences[:1], request)
    (one,) = first.capture(sequences[:1], request)
    (other,) = second.capture(sequences[:1], request)
    promise(
        _close(one.values[place], other.values[place]),
        "untrained must be a function of its seed",
    )
    differs = not _close(one.values[place], trained.values[place])
    promise(differs, "untrained must have other weights than the model")


def _close(first: NDArray[np.float32], second: NDArray[np.float32]) -> bool:
    return bool(np.allclose(first, second, rtol=RELATIVE, atol=ABSOLUTE))
