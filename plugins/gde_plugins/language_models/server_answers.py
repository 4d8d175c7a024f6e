"""Reading of servers' answers, tolerant of deviations from the protocol."""

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from gde.data.completion import Completion, Finish

FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}
"""Meaningful finish reasons. All others, also those that a server makes up, are an
ordinary stop.
"""
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields where servers put the reasoning; the protocol itself has none."""
FLATTENED = re.compile(
    r"analysis(?P<thought>.*?)assistantfinal(?P<text>.*)|final(?P<alone>\{.*)",
    re.DOTALL,
)
"""Matches a gpt-oss answer without special tokens, as `transformers serve` gives.

The names of the channels run into their texts. Without reasoning, only JSON after
"final" is taken for such an answer: any other text may just begin with that word.
"""
MOST_TOKENS = 2**31
"""Upper bound of a count; a larger number is an error of the server."""
NAME_LENGTH = 200
"""Maximum number of characters kept of a model's name."""


def usable(answer: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether an answer, parsed as JSON or mere text, holds a message."""
    choices = _field(answer, "choices")
    if not isinstance(choices, list) or not choices:
        return False
    message = _field(choices[0], "message")
    is_message = isinstance(message, Mapping)
    return is_message and isinstance(message.get("content"), str | None)


def read_answer(answer: Mapping[str, Any]) -> Completion:
    """Return the completion in a usable answer.

    Other fields are left out where they make no sense.
    """
    choice = answer["choices"][0]
    message = choice["message"]
    refusal = message.get("refusal")
    text, reasoning = _split(message, str(refusal or message.get("content") or ""))

    finish = choice.get("finish_reason")
    if refusal:
        finish = "content_filter"
    usage = answer.get("usage")
    name = answer.get("model")
    return Completion(
        text=clean(text),
        reasoning=None if reasoning is None else clean(reasoning),
        finish=FINISHES.get(finish, "stop") if isinstance(finish, str) else "stop",
        n_prompt=_count(_field(usage, "prompt_tokens")),
        n_completion=_count(_field(usage, "completion_tokens")),
        answered_by=clean(name)[:NAME_LENGTH] if isinstance(name, str) else "",
    )


def _split(message: Mapping[str, Any], text: str) -> tuple[str, str | None]:
    """Return the answer and the reasoning, from its own field or from the text."""
    for field in REASONING_FIELDS:
        if message.get(field):
            return text, str(message[field])
    flattened = FLATTENED.fullmatch(text)
    if flattened is None:
        return text, None
    return flattened["alone"] or flattened["text"], flattened["thought"]


def clean(text: str) -> str:
    """Return the text without lone surrogates, which no journal can store."""
    return text.encode("utf-8", "replace").decode()


def _field(holder: object, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else None


def _count(number: object) -> int | None:
    # JSON's true is an int in Python.
    is_count = isinstance(number, int) and not isinstance(number, bool)
    return number if is_count and 0 <= number < MOST_TOKENS else None  # type: ignore[operator, return-value]
