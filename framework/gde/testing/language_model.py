"""The check of language models (`gde.parts.language_model.LanguageModel`)."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.language_model import LanguageModel, Served
from gde.testing.interventions import (
    check_prefilled_answers,
    check_steered_answers,
    complete_all,
)
from gde.testing.promises import promise, promise_equal, promise_protocol

QUESTIONS = (
    "Which way?",
    "Say LEFT or RIGHT, nothing else.",
    "You are at 0 of 2. Where now?",
)
MAX_TOKENS = 24


def requests() -> tuple[ChatRequest, ...]:
    """Short requests of different lengths, sampled and greedy."""
    sampled = Sampling(temperature=0.7, top_p=0.95, max_tokens=MAX_TOKENS)
    greedy = replace(sampled, temperature=0.0)
    found = []
    for seed, question in enumerate(QUESTIONS):
        messages = (Message(role="user", content=question),)
        found.append(ChatRequest(messages=messages, seed=seed, sampling=sampled))
        found.append(ChatRequest(messages=messages, seed=seed, sampling=greedy))
    return tuple(found)


def check_language_model(make: Callable[[], LanguageModel]) -> None:
    """Send requests alone and at once: every promise of `LanguageModel`.

    The model must either refuse interventions and prefills or carry them out.

    Args:
        make: gives a new model; it is called twice.

    Raises:
        AssertionError: a promise is broken.
    """
    asked = requests()
    model = make()
    promise_protocol(model, LanguageModel)
    promise(model.info.name, "info.name must name the model, for the record")

    alone = [asyncio.run(model.complete(request)) for request in asked]
    for request, completion in zip(asked, alone, strict=True):
        _check_completion(request, completion)
    backwards = asyncio.run(complete_all(model, asked[::-1]))
    promise_equal(
        alone,
        backwards[::-1],
        "a request must get the same completion in any batch and order",
    )

    greedy = [
        replace(each, sampling=replace(each.sampling, temperature=0.0))
        for each in asked
    ]
    reseeded = [replace(each, seed=each.seed + 1) for each in greedy]
    promise_equal(
        asyncio.run(complete_all(model, greedy)),
        asyncio.run(complete_all(model, reseeded)),
        "at temperature 0 the seed must make no difference",
    )
    check_steered_answers(model, asked[0])
    check_prefilled_answers(model, asked[0])
    model.close()

    second = make()
    promise_equal(
        alone,
        asyncio.run(complete_all(second, asked)),
        "a request must get the same completion in another object",
    )
    promise_equal(model.info, second.info, "info must be the same in another object")
    second.close()


def check_served(make: Callable[[], LanguageModel]) -> None:
    """Ask one question as before a run: every promise of `Served`.

    Args:
        make: gives a new model; it is called once.

    Raises:
        AssertionError: a promise is broken.
    """
    model = make()
    promise_protocol(model, Served)
    assert isinstance(model, Served)
    request = requests()[1]
    first = asyncio.run(model.first(request))
    promise_equal(
        first.completion,
        asyncio.run(model.complete(request)),
        "first must answer a greedy request as complete does",
    )
    model.close()


def _check_completion(request: ChatRequest, completion: Completion) -> None:
    promise(
        isinstance(completion, Completion),
        f"complete must return a Completion, got {completion!r}",
    )
    most = request.sampling.max_tokens
    counted = max(completion.n_completion or 0, len(completion.tokens))
    promise(
        counted <= most,
        f"a completion must have at most max_tokens = {most} tokens, got {counted}",
    )
    n = len(completion.prompt_tokens) + len(completion.tokens)
    for position, places in completion.positions.items():
        promise(
            set(places) <= set(range(n)),
            f"position {position!r} must hold indices into prompt_tokens + tokens (0 to {n - 1}), got {places}",
        )
