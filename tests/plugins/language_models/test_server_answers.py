"""Answers of servers, wherever they put text, reasoning and calls."""

from typing import Any

import pytest

from gde.data.completion import Completion
from gde.data.tool_call import ToolCall, with_calls
from gde_plugins.language_models.server_answers import read_answer, usable

ACT = '{"action": "UP"}'
CALL = {"function": {"name": "act", "arguments": ACT}, "type": "function", "id": "1"}
CALLED = with_calls("", [ToolCall(name="act", arguments={"action": "UP"})])


def read(
    message: dict[str, Any], finish: str = "stop", limit: int = 0, **fields: Any
) -> Completion:
    answer = {"choices": [{"message": message, "finish_reason": finish}], **fields}
    assert usable(answer)
    return read_answer(answer, limit)


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "UP"}, "UP", None),
        ({"content": None}, "", None),
        ({"content": "UP", "reasoning_content": "hm"}, "UP", "hm"),
        ({"content": "UP", "reasoning": "hm", "reasoning_content": "hm"}, "UP", "hm"),
        ({"content": "UP", "thinking": "hm"}, "UP", "hm"),
        ({"content": "UP", "reasoning_details": [{"text": "h"}, {"summary": "m"}]}, "UP", "hm"),
        ({"content": "UP", "reasoning_content": ""}, "UP", None),
        ({"content": "<think>hm</think>UP"}, "UP", "hm"),
        ({"content": "<think>b</think>UP", "reasoning": "a"}, "UP", "a\nb"),
        ({"content": [{"type": "text", "text": "U"}, {"type": "text", "text": "P"}]}, "UP", None),
        ({"content": ["U", "P"]}, "UP", None),
        ({"content": [{"type": "output_text", "text": "UP"}]}, "UP", None),
        ({"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "UP"}]}, "UP", "hm"),
        (
            {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, "UP"]},
            "UP",
            "hm",
        ),
        ({"content": [{"type": "reasoning", "summary": [{"text": "hm"}]}, "UP"]}, "UP", "hm"),
        ({"content": [{"type": "image"}, None, 3]}, "", None),
        ({"content": None, "tool_calls": [CALL]}, CALLED, None),
        ({"content": "I go.", "tool_calls": [CALL]}, f"I go.\n{CALLED}", None),
        ({"tool_calls": [{"function": {"name": "act", "arguments": {"action": "UP"}}}]}, CALLED, None),
        ({"content": "UP", "tool_calls": [{"function": {}}, None, "x"]}, "UP", None),
        ({"content": "UP", "tool_calls": "what"}, "UP", None),
    ],
)  # fmt: skip
def test_text_reasoning_and_calls_are_found(
    message: dict[str, Any], text: str, reasoning: str | None
) -> None:
    completion = read(message)
    assert (completion.text, completion.reasoning) == (text, reasoning)
    assert completion.finish == "stop"


@pytest.mark.parametrize(
    "message",
    [
        {"refusal": "I will not."},
        {"content": [{"type": "refusal", "refusal": "I will not."}]},
    ],
)
def test_a_refusal_is_the_text_and_the_ending(message: dict[str, Any]) -> None:
    completion = read(message)
    assert (completion.text, completion.finish) == ("I will not.", "refusal")


def test_arguments_that_are_no_json_are_kept_as_they_are() -> None:
    broken = {"function": {"name": "act", "arguments": '{"action": "U'}}
    call = ToolCall(name="act", arguments='{"action": "U')
    completion = read({"content": None, "tool_calls": [broken]}, "length")
    assert completion.text == with_calls("", [call])
    assert completion.finish == "length"


def test_reasoning_without_an_end_is_truncated_whatever_the_server_says() -> None:
    completion = read({"content": "<think>A wall is"})
    assert (completion.text, completion.reasoning) == ("", "A wall is")
    assert completion.finish == "length"


@pytest.mark.parametrize(
    ("n", "finish"), [(9, "stop"), (10, "length"), (None, "length")]
)
def test_reasoning_that_had_more_tokens_to_come_was_not_cut_off(
    n: int | None, finish: str
) -> None:
    usage = {"completion_tokens": n}
    completion = read({"content": "<think>A wall is"}, limit=10, usage=usage)
    assert (completion.text, completion.finish) == ("", finish)


def test_half_characters_reach_no_journal() -> None:
    call = {"function": {"name": "act", "arguments": '{"action": "\\ud800"}'}}
    completion = read(
        {"content": "\ud800", "reasoning": "\ud800", "tool_calls": [call]}
    )
    completion.text.encode()
    assert completion.reasoning is not None
    completion.reasoning.encode()
