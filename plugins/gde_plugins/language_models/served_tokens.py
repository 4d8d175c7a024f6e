"""Token ids and log-probabilities of a served answer, by whatever name servers give
them.

vLLM and SGLang give ids where a request asks for them. llama.cpp gives those of the
completion beside its log-probabilities. Others give none.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import openai

from gde.data.completion import Completion
from gde_plugins.language_models.server_requests import IDS

REFUSED = (400, 422)
"""Status codes of servers that know not every field."""
MOST_IDS = 2**31
LOWEST = -1e30
"""Least log-probability that is kept: servers write any number for that of 0."""


def refuses_ids(error: openai.APIStatusError) -> bool:
    """Return whether a server refused a request because it was asked for ids."""
    return error.status_code in REFUSED and IDS in error.response.text


def with_tokens(completion: Completion, answer: Mapping[str, Any]) -> Completion:
    """Return the completion with the ids and log-probabilities of a usable answer."""
    choice = answer["choices"][0]
    prompt = choice.get("prompt_token_ids") or answer.get("prompt_token_ids")
    logprobs = choice.get("logprobs")
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    entries = content if isinstance(content, list) else []

    tokens = _ids(choice.get("token_ids"))
    return replace(
        completion,
        prompt_tokens=_ids(prompt),
        tokens=tokens or _ids(_each(entries, "id")),
        logprobs=_numbers(_each(entries, "logprob")),
    )


def _each(entries: Sequence[Any], name: str) -> list[Any]:
    return [each.get(name) if isinstance(each, Mapping) else None for each in entries]


def _ids(found: object) -> tuple[int, ...]:
    """Return token ids; none where a single one makes no sense."""
    if not isinstance(found, list):
        return ()
    for each in found:
        # JSON's true is an int in Python.
        is_id = isinstance(each, int) and not isinstance(each, bool)
        if not is_id or not 0 <= each < MOST_IDS:
            return ()
    return tuple(found)


def _numbers(found: list[Any]) -> tuple[float, ...]:
    """Return log-probabilities; none where a single one makes no sense."""
    for each in found:
        if not isinstance(each, int | float) or not math.isfinite(each) or each > 0:
            return ()
    return tuple(max(float(each), LOWEST) for each in found)
