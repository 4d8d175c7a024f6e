"""Reading of servers' answers, tolerant of deviations from the protocol."""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, TypeGuard

from gde.data.completion import Completion, Finish
from gde.data.tool_call import ToolCall, with_calls
from gde_plugins.language_models.reasoning_text import Halves, split_reasoning

FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_calls": "stop",
    "tool_use": "stop",
    "function_call": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refusal",
    "safety": "refusal",
    "refusal": "refusal",
}
"""Finish reasons of models, in any letter case. With any other, e.g. "abort", the server
has failed.
"""
REASONING_FIELDS = (
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
)
"""Fields where servers put the reasoning; the protocol itself has none. Parts of a
content name theirs likewise.
"""
INSTEAD = ("refusal", "tool_calls", "function_call", *REASONING_FIELDS)
"""Fields that a message may have in place of a content."""
CALLS = ("tool_calls", "tool_use", "function_call")
"""Finish reasons of answers that may be calls alone."""
TEXT_FIELDS = ("text", "refusal", "content", "summary", *REASONING_FIELDS)
"""Fields of a part that may hold its text."""
TAG = re.compile(r"<[^>]*>")
FIRST_WORDS = 100
"""Characters that are told of an answer that is no completion."""
MOST_TOKENS = 2**31
"""Upper bound of a count; a larger number is an error of the server."""
NAME_LENGTH = 200
"""Maximum number of characters kept of a model's name."""
OF_SERVER = MappingProxyType(
    {"provider": "provider", "system_fingerprint": "system fingerprint"}
)
"""Fields by which a router names the server behind it, and a server its state; each with
its name in reports.
"""


class Failed(Exception):
    """A failure that a server tells in an answer of status 200."""

    def __init__(self, said: str, status: int | None = None) -> None:
        """Take what is said, and the status that the failure would have had."""
        super().__init__(said)
        self.status = status


def failure(answer: object) -> Failed | None:
    """The failure of a server in an answer that looks like one of its model; None where
    there is none.
    """
    choices = _field(answer, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    for holder in (answer, choice):
        # FastChat and others send the error alone.
        is_one = _field(holder, "object") == "error"
        if error := holder if is_one else _field(holder, "error"):
            said = _plain(_field(error, "message")) or _plain(error) or "an error"
            return Failed(said, _status(_field(error, "code")))
    if isinstance(answer, Mapping) and answer.get("choices", "") in ([], None):
        return Failed("the answer has no choices")

    finish = _field(choice, "finish_reason")
    ending = _ending(finish)
    if isinstance(finish, str) and finish and ending is None:
        return Failed(f"the answer ends with finish_reason {finish!r}")
    message = _field(choice, "message")
    if isinstance(message, Mapping) and message.get("content") is None:
        # A model that answers nothing gives a text without letters.
        others = any(message.get(name) for name in INSTEAD)
        if not others and ending in (None, "stop") and finish not in CALLS:
            return Failed("the answer has no content")
    return None


def _ending(finish: object) -> Finish | None:
    return FINISHES.get(finish.lower()) if isinstance(finish, str) else None


def _status(code: object) -> int:
    """The status that the code of an error names; 500 for another word."""
    text = str(code)
    return int(text) if text.isdecimal() and 400 <= int(text) < 600 else 500


def first_words(answer: object) -> str:
    """The begin of an answer, without the marks of a page."""
    return " ".join(TAG.sub(" ", str(answer)).split())[:FIRST_WORDS]


def usable(answer: object) -> TypeGuard[Mapping[str, Any]]:
    """Return whether an answer, parsed as JSON or mere text, holds a message."""
    choices = _field(answer, "choices")
    if not isinstance(choices, list) or not choices:
        return False
    message = _field(choices[0], "message")
    is_message = isinstance(message, Mapping)
    return is_message and isinstance(message.get("content"), str | list | None)


def read_answer(answer: Mapping[str, Any], limit: int = 0) -> Completion:
    """Return the completion in a usable answer.

    Other fields are left out where they make no sense.

    Args:
        answer: parsed JSON.
        limit: the most tokens that it may have; 0 where that is not known.
    """
    choice = answer["choices"][0]
    message = choice["message"]
    halves = _split(message)

    usage = answer.get("usage")
    details = _field(usage, "prompt_tokens_details")
    n_completion = _count(_field(usage, "completion_tokens"))
    finish = _ending(choice.get("finish_reason")) or "stop"
    if _refusal(message):
        finish = "refusal"
    elif halves.cut and (n_completion is None or n_completion >= limit):
        # Reasoning without an end was cut off, whatever the server says, unless its
        # tokens are too few.
        finish = "length"
    return Completion(
        text=clean(halves.text),
        reasoning=None if halves.reasoning is None else clean(halves.reasoning),
        finish=finish,
        n_prompt=_count(_field(usage, "prompt_tokens")),
        n_completion=n_completion,
        n_prompt_cached=_count(_field(details, "cached_tokens")),
        answered_by=_name(answer.get("model")),
        served=_served(answer),
    )


def _split(message: Mapping[str, Any]) -> Halves:
    """Return the answer with its calls, and the reasoning, wherever they stand."""
    parts = [*_parts(message.get("content"))]
    text = "".join(part for kind, part in parts if kind == "text")
    halves = split_reasoning(_refusal(message) or text)

    thoughts = [part for kind, part in parts if kind == "reasoning"]
    for field in REASONING_FIELDS:
        # A server that names the reasoning twice repeats it.
        if message.get(field) and not thoughts:
            thoughts.append(_plain(message[field]))
    if halves.reasoning is not None:
        thoughts.append(halves.reasoning)
    return Halves(
        text=with_calls(halves.text, [*_calls(message.get("tool_calls"))]),
        reasoning="\n".join(thoughts) if thoughts else None,
        cut=halves.cut,
    )


def _refusal(message: Mapping[str, Any]) -> str:
    refusals = [str(message.get("refusal") or "")]
    for kind, part in _parts(message.get("content")):
        if kind == "refusal":
            refusals.append(part)
    return "".join(refusals)


def _parts(content: object) -> Iterator[tuple[str, str]]:
    """Yield kind (text, reasoning or refusal) and text of the parts of a content."""
    if not isinstance(content, list):
        content = [content]
    for part in content:
        kind = str(_field(part, "type") or "text")
        if kind == "refusal":
            yield "refusal", _plain(part)
        elif any(word in kind for word in ("reason", "think")):
            yield "reasoning", _plain(part)
        else:
            yield "text", _plain(part)


def _plain(value: object) -> str:
    """Return the text in a part, which may be a list of others."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(_plain, value))
    for name in TEXT_FIELDS:
        if _field(value, name):
            return _plain(_field(value, name))
    return ""


def _calls(calls: object) -> Iterator[ToolCall]:
    for call in calls if isinstance(calls, list) else ():
        function = _field(call, "function")
        name = _field(function, "name")
        arguments = _field(function, "arguments")
        if not isinstance(name, str):
            continue
        # The protocol has JSON in a text; some servers send the object itself.
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError):
                arguments = clean(arguments)
        yield ToolCall(name=clean(name), arguments=arguments)


def clean(text: str) -> str:
    """Return the text without lone surrogates, which no journal can store."""
    return text.encode("utf-8", "replace").decode()


def _served(answer: Mapping[str, Any]) -> dict[str, str]:
    """What the server tells of itself."""
    told = {name: _name(answer.get(field)) for field, name in OF_SERVER.items()}
    return {name: said for name, said in told.items() if said}


def _name(value: object) -> str:
    return clean(value)[:NAME_LENGTH] if isinstance(value, str) else ""


def _field(holder: object, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else None


def _count(number: object) -> int | None:
    # JSON's true is an int in Python.
    is_count = isinstance(number, int) and not isinstance(number, bool)
    return number if is_count and 0 <= number < MOST_TOKENS else None  # type: ignore[operator, return-value]
