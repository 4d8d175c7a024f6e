"""The form of an answer in the words of OpenAI's chat completions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gde.data.completion import AnswerForm, ChatRequest, Message
from gde.data.tool_call import ToolCall, split_calls

PARALLEL = "parallel_tool_calls"
FIELDS = ("response_format", "tool_choice", "tools")
"""The fields that name a form."""


def form_fields(request: ChatRequest) -> Mapping[str, Any]:
    """Return the fields by which a server enforces the form of the answer.

    Where the answer is the call of a tool, the conversation has the calls and their
    results as such too. There are none where the answer is free text.
    """
    form = request.form
    if form is None:
        return {}
    if form.kind == "json":
        return {"response_format": {"type": "json_object"}}
    if form.kind == "schema":
        schema = {"name": form.name, "strict": True, "schema": _schema(form)}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    function = {
        "name": form.name,
        "description": "The answer. Called exactly once.",
        "parameters": _schema(form),
    }
    return {
        "messages": _with_calls(request.messages),
        "tools": [{"type": "function", "function": function}],
        "tool_choice": "required",
        PARALLEL: False,
    }


def _schema(form: AnswerForm) -> Mapping[str, Any]:
    text: dict[str, Any] = {"type": "string"}
    if form.choices is not None:
        text["enum"] = [*form.choices]
    return {
        "type": "object",
        "properties": {form.field: text},
        "required": [form.field],
        "additionalProperties": False,
    }


def _with_calls(messages: Sequence[Message]) -> list[Mapping[str, Any]]:
    """Return the conversation with calls in fields of their own.

    Each message of the role `tool` answers the next call.
    """
    sent: list[Mapping[str, Any]] = []
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        if message.role == "tool" and open_calls:
            sent.append(
                {
                    "role": "tool",
                    "tool_call_id": open_calls.pop(0),
                    "content": message.content,
                }
            )
            continue
        content, calls = split_calls(message.content)
        if message.role != "assistant" or not calls:
            sent.append({"role": message.role, "content": message.content})
            continue
        open_calls = [f"call_{place}_{index}" for index in range(len(calls))]
        written = [
            _written(name, call) for name, call in zip(open_calls, calls, strict=True)
        ]
        sent.append(
            {"role": "assistant", "content": content or None, "tool_calls": written}
        )
    return sent


def _written(name: str, call: ToolCall) -> Mapping[str, Any]:
    arguments = call.arguments
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": call.name, "arguments": arguments}
    return {"id": name, "type": "function", "function": function}
