"""The whole answer of a server that sends it in pieces.

Only the end of an answer is of use here, so nothing is read before it. openai's own
`ChatCompletionStreamState` copies the answer so far with each piece.
"""

import json
from collections.abc import Iterator
from typing import Any

from gde_plugins.language_models.connection import CutOff
from gde_plugins.language_models.server_answers import Failed, failure

BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
"""How a line of server-sent events begins."""
END = "[DONE]"
WHOLE = ("role", "id", "type", "name", "index", "finish_reason")
"""Fields that are no text in pieces, which some servers repeat."""
EMPTY = (None, "")
"""Values by which some servers leave a field out."""


def is_stream(content: bytes) -> bool:
    """Return whether an answer is in pieces; some servers send those unasked."""
    return content.lstrip().startswith(BEGINNINGS)


def assemble(content: bytes) -> dict[str, Any]:
    """Return the answer as it would have come in one piece.

    Raises:
        CutOff: a piece is no JSON.
        RecursionError: it is nested too deeply.
        Failed: the pieces end before the answer does.
    """
    answer: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    for chunk in _chunks(content.decode(errors="replace")):
        pieces = chunk.pop("choices", None)
        answer.update({name: each for name, each in chunk.items() if each not in EMPTY})
        # The last piece has the usage alone.
        for piece in pieces if isinstance(pieces, list) else ():
            if isinstance(piece, dict):
                piece["message"] = piece.pop("delta", piece.get("message"))
                choice = _joined(choice, piece)

    if choice:
        answer["choices"] = [choice]
    if failure(answer) is None and not choice.get("finish_reason"):
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
            yield chunk


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
            elif value not in EMPTY:
                begun[name] = value
        return begun
    if isinstance(begun, list):
        for piece in more if isinstance(more, list) else [more]:
            _extend(begun, piece)
        return begun
    # A content may begin as text and go on in parts.
    return [begun, *more] if begun and isinstance(more, list) else more


def _extend(begun: list[Any], piece: Any) -> None:
    """Add a piece to a list, or to the entry that it goes on with."""
    for known in reversed(begun) if _is_numbered(piece) else begun[-1:]:
        if _goes_on(known, piece):
            _joined(known, piece)
            return
    begun.append(piece)


def _is_numbered(piece: Any) -> bool:
    return isinstance(piece, dict) and piece.get("index") is not None


def _goes_on(known: Any, piece: Any) -> bool:
    """Whether a piece belongs to an entry: a call by its number, reasoning by its kind."""
    if not isinstance(known, dict) or not isinstance(piece, dict):
        return False
    # Some servers give every call the same number.
    is_another = piece.get("id") not in (*EMPTY, known.get("id"))
    name = "index" if _is_numbered(piece) else "type"
    return name in piece and known.get(name) == piece[name] and not is_another
