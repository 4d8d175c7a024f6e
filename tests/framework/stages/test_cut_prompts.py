"""A prompt with fewer tokens than words, or whose tokens do not grow with the
conversation, was cut by the server.
"""

import asyncio
from collections.abc import Iterator
from typing import Any, cast

import pytest

from gde.data.completion import ChatRequest, Completion, Message, ModelInfo
from gde.data.model_use import PROMPT_CUT
from gde.stages.asking import RECENT, Scope


class Counting:
    """Says that its prompts have so many tokens."""

    info = ModelInfo(name="counting")

    def __init__(self, counts: Iterator[int | None]) -> None:
        self.counts = counts

    async def complete(self, request: ChatRequest) -> Completion:
        n = next(self.counts)
        return Completion(text="UP", reasoning=None, finish="stop", n_prompt=n)

    def close(self) -> None:
        """Nothing to release."""


def request(*texts: str) -> ChatRequest:
    messages = tuple(Message(role="user", content=text) for text in texts)
    return ChatRequest(messages=messages, seed=0)


def last_of(
    scope_of: dict[str, tuple[int | None, ...]], *requests: tuple[str, ChatRequest]
) -> Completion:
    """The last answer in a scope whose models, by name, count so."""
    models = {name: Counting(iter(counts)) for name, counts in scope_of.items()}
    scope = Scope("0/0/0", models.__getitem__, None)
    for name, one in requests:
        answer = asyncio.run(scope.model(name).complete(one))
    return answer


@pytest.mark.parametrize(
    ("counts", "is_cut"),
    [
        ((10, 10), True),
        ((10, 9), True),
        ((10, 11), False),
        # A server that does not count.
        ((0, 0), False),
        ((10, 0), False),
        ((None, None), False),
        ((10, None), False),
    ],
)
def test_a_longer_conversation_has_more_tokens(
    counts: tuple[int | None, ...], is_cut: bool
) -> None:
    asked = [("m", request("a")), ("m", request("a", "b"))]
    assert (PROMPT_CUT in last_of({"m": counts}, *asked).served) is is_cut


@pytest.mark.parametrize("n", [None, 0, 3, 4])
def test_a_prompt_has_at_least_a_token_for_each_word(n: int | None) -> None:
    one = last_of({"m": (n,)}, ("m", request("go to", "the ball")))
    assert (PROMPT_CUT in one.served) is (n == 3)


def test_only_one_conversation_with_one_model_is_compared() -> None:
    other = [("m", request("a", "b")), ("m", request("c", "b", "d"))]
    assert PROMPT_CUT not in last_of({"m": (10, 10)}, *other).served
    models = [("m", request("a")), ("n", request("a", "b"))]
    assert PROMPT_CUT not in last_of({"m": (10,), "n": (10,)}, *models).served


def test_the_many_answers_of_a_part_are_not_searched() -> None:
    scope = Scope("reward_model judge", lambda name: Counting(iter((9,))), None)
    unread = {f"early {i}": cast("Any", object()) for i in range(3)}
    recent = Completion(text="", reasoning=None, finish="stop")
    scope.answers = {**unread, **{f"late {i}": recent for i in range(RECENT)}}
    asyncio.run(scope.model("m").complete(request("a")))
