"""What servers answer: read for what is usable in it, whatever else is odd."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from gde.data.completion import Completion, Finish

FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refusal"}
"""All other reasons, those of the protocol and those that a server makes up, are an ordinary stop."""
REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers put what the model thought; the protocol itself has no place for it."""
FLATTENED = re.compile(r"analysis(?P<thought>.*?)assistantfinal(?P<text>.*)|final(?P<alone>\{.*)", re.DOTALL)
"""An answer in channels (gpt-oss) whose special tokens a server has left out, as `transformers serve` does: names of
channels run into their texts. Without reasoning only what is JSON is told from a text that begins with "final"."""
MOST_TOKENS = 2**31
"""No answer has more: what says so is no count."""
NAME_LENGTH = 200


def usable(answer: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether it holds a message: whatever parses as JSON, and what does not, is here."""
    choices = _field(answer, "choices")
    if not isinstance(choices, list) or not choices:
        return False
    message = _field(choices[0], "message")
    return isinstance(message, Mapping) and isinstance(message.get("content"), str | None)


def read_answer(answer: Mapping[str, Any]) -> Completion:
    """The completion in a usable answer. What it says beside the message is left out where it makes no sense."""
    choice = answer["choices"][0]
    message = choice["message"]
    thoughts = [message.get(field) for field in REASONING_FIELDS]
    refusal, finish, usage = message.get("refusal"), choice.get("finish_reason"), answer.get("usage")
    said = str(refusal or message.get("content") or "")
    text, thought = _parted(said, next((str(each) for each in thoughts if each), None))
    prompt, tokens = _tokens(answer.get("prompt_token_ids")), _tokens(choice.get("token_ids"))
    return Completion(
        text=clean(text),
        reasoning=None if thought is None else clean(thought),
        finish="refusal" if refusal else FINISHES.get(finish, "stop") if isinstance(finish, str) else "stop",
        prompt_tokens=prompt if tokens else (),
        tokens=tokens if prompt else (),
        n_prompt=_count(_field(usage, "prompt_tokens")),
        n_completion=_count(_field(usage, "completion_tokens")),
        answered_by=clean(name)[:NAME_LENGTH] if isinstance(name := answer.get("model"), str) else "",
    )


def _parted(text: str, thought: str | None) -> tuple[str, str | None]:
    """The answer and the reasoning, which may stand in one text."""
    flattened = FLATTENED.fullmatch(text) if thought is None else None
    return (flattened["alone"] or flattened["text"], flattened["thought"]) if flattened else (text, thought)


def clean(text: str) -> str:
    """Without lone surrogates, which JSON can carry but no journal can store."""
    return text.encode("utf-8", "replace").decode()


def _field(holder: object, name: str) -> object:
    return holder.get(name) if isinstance(holder, Mapping) else None


def _count(found: object) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 <= found < MOST_TOKENS else None


def _tokens(found: object) -> tuple[int, ...]:
    """Token ids as vLLM gives them where it is asked to; none where they are no list of such."""
    if not isinstance(found, Sequence) or isinstance(found, str):
        return ()
    are_ids = all(isinstance(each, int) and not isinstance(each, bool) and 0 <= each < MOST_TOKENS for each in found)
    return tuple(found) if are_ids else ()
