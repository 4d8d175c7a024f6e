"""The check of models whose activations can be read."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from gde.data.activations import (
    EMBEDDING,
    ActivationRecord,
    CaptureRequest,
    TokenSequence,
)
from gde.data.completion import ChatRequest, Completion
from gde.errors import CannotReplay, GdeError
from gde.parts.language_model import Retokenizer, WhiteBox
from gde.testing.interventions import (
    check_steered_replays,
    complete_all,
    steered,
    takes_interventions,
)
from gde.testing.language_model import check_language_model, requests
from gde.testing.promises import (
    close,
    promise,
    promise_equal,
    promise_protocol,
    promise_raises,
)

TEXT = "# A _ G #\n0 1 2\n"


def check_white_box(make: Callable[[], WhiteBox]) -> None:
    """Check a language model, then replay its answers: every promise of `WhiteBox`.

    Args:
        make: gives a new model.

    Raises:
        AssertionError: a promise is broken.
    """
    check_language_model(make)
    model = make()
    promise_protocol(model, WhiteBox)
    info = model.info
    promise(
        info.n_layers > 0 and info.width > 0,
        f"info must tell n_layers and width, got {info.n_layers}, {info.width}",
    )

    asked = requests()
    sequences = [_sequence(each) for each in asyncio.run(complete_all(model, asked))]
    batch = [*sequences]
    if takes_interventions(model, asked[0]):
        batch.append(steered(model, sequences[0]))
    _check_capture(model, batch)
    _check_tokenize(model)
    _check_untrained(model, sequences)
    if isinstance(model, Retokenizer):
        _check_retokenize(model, asked)
    check_steered_replays(model, sequences, asked[0])
    model.close()


def _sequence(completion: Completion) -> TokenSequence:
    promise(
        completion.prompt_tokens,
        "a completion of a white box must hold the prompt's token ids",
    )
    promise(
        completion.positions.get("pre"),
        "a completion of a white box must name the position `pre`, which closes the prompt",
    )
    return TokenSequence(
        tokens=completion.prompt_tokens + completion.tokens,
        positions=completion.positions,
    )


def _check_capture(model: WhiteBox, sequences: Sequence[TokenSequence]) -> None:
    last = model.info.n_layers - 1
    request = CaptureRequest(layers=(EMBEDDING, 0, last))
    # One sequence lacks a position.
    shorter = replace(sequences[0], positions={"pre": sequences[0].positions["pre"]})
    sequences = [shorter, *sequences]
    together = model.capture(sequences, request)
    promise_equal(
        len(together), len(sequences), "capture must give one record for each sequence"
    )
    for sequence, record in zip(sequences, together, strict=True):
        _check_record(model, sequence, request, record)
        (alone,) = model.capture([sequence], request)
        for place, values in alone.values.items():
            promise(
                close(record.values[place], values),
                "a sequence must give the same activations in any batch",
            )
    with promise_raises(
        GdeError, f"capture must raise GdeError for a missing layer such as {last + 1}"
    ):
        model.capture(sequences[:1], CaptureRequest(layers=(last + 1,)))


def _check_record(
    model: WhiteBox,
    sequence: TokenSequence,
    request: CaptureRequest,
    record: ActivationRecord,
) -> None:
    positions = [
        position for position in request.positions if sequence.positions.get(position)
    ]
    promise_equal(
        set(record.values),
        set(product(request.layers, positions)),
        "capture must give the requested layers at those positions that the sequence has",
    )
    for (layer, position), values in record.values.items():
        where = f"activations of layer {layer} at {position!r}"
        shape = (len(sequence.positions[position]), model.info.width)
        promise_equal(
            values.shape, shape, f"{where} must be (tokens of the position, width)"
        )
        promise(
            values.dtype == np.float32 and values.flags.c_contiguous,
            f"{where} must be C-ordered float32",
        )
        promise(not values.flags.writeable, f"{where} must be read-only")
        promise(np.isfinite(values).all(), f"{where} must be finite")


def _check_tokenize(model: WhiteBox) -> None:
    found = model.tokenize(TEXT)
    promise_equal(
        len(found.ids), len(found.spans), "tokenize must give one span for each token"
    )
    covered: set[int] = set()
    for start, end in found.spans:
        covered.update(range(start, end))
    promise(
        list(found.spans) == sorted(found.spans) and covered <= set(range(len(TEXT))),
        f"spans must be ordered character ranges of the text, got {found.spans}",
    )
    missing = [
        place
        for place, letter in enumerate(TEXT)
        if place not in covered and not letter.isspace()
    ]
    promise(not missing, f"spans must cover the text, they leave out {missing}")


def _check_retokenize(model: Retokenizer, asked: Sequence[ChatRequest]) -> None:
    for request in asked:
        own = asyncio.run(model.complete(request))
        served = replace(own, prompt=request.messages, positions={})
        found = model.retokenize(served)
        promise_equal(
            (found.prompt_tokens, found.tokens),
            (own.prompt_tokens, own.tokens),
            "retokenize must keep the tokens that a server gave",
        )
        promise_equal(
            found.positions,
            own.positions,
            "retokenize must give an answer the positions that it has here",
        )
        _check_scores(model, _sequence(own), len(own.tokens))
    rendered = replace(served, prompt_tokens=(), effort=asked[-1].effort)
    with promise_raises(
        CannotReplay, "retokenize must refuse a prompt of which a server counted others"
    ):
        model.retokenize(replace(rendered, n_prompt=len(own.prompt_tokens) + 1))
    promise_equal(
        model.retokenize(rendered).prompt_tokens,
        own.prompt_tokens,
        "retokenize must render a prompt as it is asked here",
    )


def _check_scores(model: Retokenizer, sequence: TokenSequence, scored: int) -> None:
    request = CaptureRequest(layers=(0,))
    (plain,) = model.capture([sequence], request)
    (record,) = model.capture([replace(sequence, scored=scored)], request)
    promise_equal(
        len(record.logprobs),
        scored,
        "capture must give one log-probability for each scored token",
    )
    promise(
        all(-np.inf < each <= 0 for each in record.logprobs),
        "log-probabilities must be finite and at most 0",
    )
    for place, values in plain.values.items():
        promise(
            close(record.values[place], values),
            "a sequence must give the same activations whether its tokens are scored or not",
        )


def _check_untrained(model: WhiteBox, sequences: Sequence[TokenSequence]) -> None:
    first = model.untrained(0)
    promise_equal(
        (first.info.n_layers, first.info.width),
        (model.info.n_layers, model.info.width),
        "untrained must have the same architecture",
    )
    promise_equal(
        first.tokenize(TEXT),
        model.tokenize(TEXT),
        "untrained must have the same tokenizer",
    )

    last = model.info.n_layers - 1
    request = CaptureRequest(layers=(last,), positions=("pre",))
    streams = []
    for each in (model, first, model.untrained(0)):
        (record,) = each.capture(sequences[:1], request)
        streams.append(record.values[last, "pre"])
    trained, one, other = streams
    promise(close(one, other), "untrained must be a function of its seed")
    promise(not close(one, trained), "untrained must have other weights than the model")
