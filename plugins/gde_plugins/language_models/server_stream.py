"""The whole answer of a server that sends it in pieces.

Only the end of an answer is of use here, so nothing is read before it. openai's own
`ChatCompletionStreamState` copies the answer so far with each piece.
"""

import json
from collections.abc import Iterator
from typing import Any

from gde_plugins.language_models.connection import CutOff
from gde_plugins.language_models.server_answers import Failed

BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""How a line of server-sent events begins."""
END = "[DONE]"
WHOLE = ("role", "id", "type", "name", "index", "finish_reason")
"""Fields that are no text in pieces, which some servers repeat."""


def is_stream(content: bytes) -> bool:
    """Return whether an answer is in pieces; some servers send those unasked."""
    return content.lstrip().startswith(BEGINNINGS)


def assemble(content: bytes) -> dict[str, Any]:
    """Return the answer as it would have come in one piece.

    Raises:
        CutOff: a piece is no JSON. RecursionError: it is nested too deeply.
        Failed: the pieces end before the answer does.
    """
    answer: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    for chunk in _chunks(content.decode(errors="replace")):
        pieces = chunk.pop("choices", None)
        answer.update({name: each for name, each in chunk.items() if each is not None})
        # The last piece has the usage alone.
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict):
                piece["message"] = piece.pop("delta", None)
                choice = _joined(choice, piece)

    if choice:
        answer["choices"] = [choice]
    failed = answer.get("error") or choice.get("error")
    if not failed and not choice.get("finish_reason"):
        raise Failed("the answer stops without a finish_reason")
    return answer


def _chunks(text: str) -> Iterator[dict[str, Any]]:
    # `splitlines` would also split at characters that JSON may hold.
    for line in text.split("\n"):
        field, _, data = line.partition(":")
        if field != "data" or data.strip() == END:
            continue
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError) as error:
            problem = f"a piece of the answer is no whole JSON: {data[-60:]!r}"
            raise CutOff(problem) from error
        if isinstance(chunk, dict):
            yield {"error": chunk} if chunk.get("object") == "error" else chunk


def _joined(begun: Any, more: Any) -> Any:
    """Return what has come so far, which may be changed, with a further piece."""
    if more is None:
        return begun
    if isinstance(begun, str) and isinstance(more, str):
        return begun + more
    if isinstance(begun, dict) and isinstance(more, dict):
        for name, value in more.items():
            if name not in WHOLE:
                begun[name] = _joined(begun.get(name), value)
            elif value is not None:
                begun[name] = value
        return begun
    if isinstance(begun, list) and isinstance(more, list):
        for piece in more:
            _extend(begun, piece)
        return begun
    return more


def _extend(begun: list[Any], piece: Any) -> None:
    """Add a piece to a list, or to the entry with its index, e.g. of a tool call."""
    index = piece.get("index") if isinstance(piece, dict) else None
    if index is not None:
        for known in begun:
            if isinstance(known, dict) and known.get("index") == index:
                _joined(known, piece)
                return
    begun.append(piece)
