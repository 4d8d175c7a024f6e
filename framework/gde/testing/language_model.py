"""The check of language models (`gde.parts.language_model.LanguageModel`)."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.language_model import LanguageModel
from gde.testing.interventions import check_steered_answers
from gde.testing.promises import promise, promise_equal, promise_protocol

QUESTIONS = (
    "Which way?",
    "Say LEFT or RIGHT, nothing else.",
    "You are at 0 of 2. Where now?",
)
MAX_TOKENS = 24


def requests() -> tuple[ChatRequest, ...]:
    """Short requests of different length, sampled and greedy."""
    sampled = Sampling(temperature=0.7, top_p=0.95, max_tokens=MAX_TOKENS)
    greedy = replace(sampled, temperature=0.0)
    found = []
    for seed, question in enumerate(QUESTIONS):
        messages = (Message(role="user", content=question),)
        found.append(ChatRequest(messages=messages, seed=seed, sampling=sampled))
        found.append(ChatRequest(messages=messages, seed=seed, sampling=greedy))
    return tuple(found)


def check_language_model(
    make: Callable[[], LanguageModel], asked: Sequence[ChatRequest] = ()
) -> None:
    """Send requests alone and at once, and check every promise of `LanguageModel`.

    The model must either refuse interventions or carry them out.

    Args:
        make: gives a new model; it is called twice.
        asked: the requests to try; by default `requests()`.

    Raises:
        AssertionError: a promise is broken.
    """
    asked = asked or requests()
    model = make()
    promise_protocol(model, LanguageModel)
    promise(model.info.name, "info.name must name the model, it goes into the record")

    alone = asyncio.run(_one_by_one(model, asked))
    for request, completion in zip(asked, alone, strict=True):
        _check_completion(request, completion)
    backwards = asyncio.run(_together(model, list(reversed(asked))))
    same = "a request must get the same completion in any batch and order"
    promise_equal(alone, list(reversed(backwards)), same)

    _check_greedy(model, asked)
    check_steered_answers(model, asked[0])
    model.close()

    counterfactual = make()
    promise_equal(
        alone,
        asyncio.run(_together(counterfactual, asked)),
        "a request must get the same completion in another object",
    )
    promise_equal(
        model.info, counterfactual.info, "info must be the same in another object"
    )
    counterfactual.close()


async def _one_by_one(
    model: LanguageModel, asked: Sequence[ChatRequest]
) -> list[Completion]:
    return [await model.complete(request) for request in asked]


async def _together(
    model: LanguageModel, asked: Sequence[ChatRequest]
) -> list[Completion]:
    return list(await asyncio.gather(*map(model.complete, asked)))


def _check_completion(request: ChatRequest, completion: Completion) -> None:
    promise(
        isinstance(completion, Completion),
        f"complete must give a Completion, got {completion!r}",
    )
    most = request.sampling.max_tokens
    counted = max(completion.n_completion or 0, len(completion.tokens))
    promise(
        counted <= most,
        f"a completion must have at most max_tokens = {most} tokens, got {counted}",
    )
    n = len(completion.prompt_tokens) + len(completion.tokens)
    for position, places in completion.positions.items():
        inside = all(0 <= place < n for place in places)
        promise(
            inside,
            f"position {position!r} must hold indices into prompt_tokens + tokens (0 to {n - 1}), got {places}",
        )


def _check_greedy(model: LanguageModel, asked: Sequence[ChatRequest]) -> None:
    greedy = [
        replace(request, sampling=replace(request.sampling, temperature=0.0))
        for request in asked
    ]
    first = asyncio.run(_together(model, greedy))
    reseeded = [replace(request, seed=request.seed + 1) for request in greedy]
    second = asyncio.run(_together(model, reseeded))
    promise_equal(first, second, "at temperature 0 the seed must play no part")
