"""Calls of tools as the text of an answer holds them, after its other content:

    <tool_call>
    {"name": "act", "arguments": {"action": "UP"}}
    </tool_call>

Open models that call tools write this themselves (Hermes, Qwen); the calls that a
server gives in fields of their own are written in the same way. The text is thus the
whole record of an answer.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.json import Json

CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """One call of a tool."""

    name: str
    arguments: Json
    """An object; or the text of the model where that is no JSON."""


def with_calls(text: str, calls: Sequence[ToolCall]) -> str:
    """The content of an answer with its calls after it."""
    parts = [text] if text else []
    for call in calls:
        body = {"name": call.name, "arguments": call.arguments}
        # An argument that holds the closing tag would end the call.
        written = json.dumps(body, ensure_ascii=False).replace("</", "<\\/")
        parts.append(f"<tool_call>\n{written}\n</tool_call>")
    return "\n".join(parts)


def split_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """The content of an answer, and its calls.

    What looks like a call and is none stays in the content.
    """
    calls = []
    content = []
    end = 0
    for found in CALL.finditer(text):
        call = _call(found[1])
        if call is not None:
            calls.append(call)
            content.append(text[end : found.start()])
            end = found.end()
    content.append(text[end:])
    kept = "".join(content)
    return (kept.strip() if calls else kept), tuple(calls)


def _call(text: str) -> ToolCall | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    name = found.get("name") if isinstance(found, dict) else None
    if not isinstance(name, str) or "arguments" not in found:
        return None
    return ToolCall(name=name, arguments=found["arguments"])
