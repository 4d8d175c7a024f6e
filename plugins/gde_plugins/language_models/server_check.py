"""The first request to a server: what it refuses, and which models it has."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.server_errors import FOREIGN
from gde_plugins.language_models.server_forms import FIELDS, PARALLEL
from gde_plugins.language_models.server_requests import EFFORT, IDS, USAGE

HARMLESS = (EFFORT, "seed", PARALLEL, IDS, USAGE)
"""Fields without which an answer is drawn as before, where nobody has set them. Others
change the answer, so that the user must choose.
"""
TOOLS = ("tool_choice", "tools", PARALLEL)
"""Fields of which no server takes some alone."""
OTHER_LIMIT: Final = "max_completion_tokens"
REFUSING = {FOREIGN, 400, 403, 404, 422, 500, 501}
"""Statuses by which servers refuse a field; llama-cpp-python does by 500."""
MISNAMED = {400, 404, 422}
"""Statuses by which servers refuse a model that they do not have."""
LISTED = 8
"""Most models of a server that a message names."""


def changes(config: OpenAIConfig, refusal: str) -> Iterator[OpenAIConfig]:
    """Yield options with which a refused request may be answered, harmless ones first.

    A message may name a field for many reasons: only an answer shows which change
    helps.

    Args:
        config: the options of the refused request.
        refusal: the server's message.
    """
    if OTHER_LIMIT in refusal and config.limit_field != OTHER_LIMIT:
        yield replace(config, limit_field=OTHER_LIMIT)

    named = [field for field in _fields(config) if field in refusal]
    for field in named:
        if field in HARMLESS and not _is_set(config, field):
            yield _without(config, field)
    for field in named:
        if field in config.body:
            body = {name: config.body[name] for name in config.body if name != field}
            yield replace(config, body=body)
    if config.logprobs and "logprobs" in refusal:
        yield replace(config, logprobs=False)
    if config.stream and "stream" in refusal:
        yield replace(config, stream=False)
    is_long = config.limit_field in named or "context" in refusal.lower()
    if is_long and config.max_tokens != 1:
        yield replace(config, max_tokens=1)
    for field in named:
        yield _without(config, *(TOOLS if field in TOOLS else (field,)))


def advice(before: OpenAIConfig, after: OpenAIConfig) -> str:
    """Return what the user must set to have changed options; empty for harmless ones."""
    told = []
    for field in before.body:
        if field not in after.body:
            told.append(f"take {field} out of model.body")
    if after.logprobs != before.logprobs:
        told.append("set model.logprobs=false")
    if after.stream != before.stream:
        told.append("set model.stream=false")
    if after.max_tokens != before.max_tokens:
        told.append("lower model.max_tokens, or set model.context")

    new = [field for field in after.without if field not in before.without]
    if any(field not in HARMLESS or _is_set(after, field) for field in new):
        fields = ",".join(dict.fromkeys([*before.without, *new]))
        another = "take another model.effort or " if EFFORT in new else ""
        told.append(f"{another}set model.without={fields}")
    return " and ".join(told)


def _fields(config: OpenAIConfig) -> list[str]:
    """The fields of a request that a server may refuse, and that it is sent."""
    optional = ("temperature", "top_p", "logprobs", config.limit_field)
    every = dict.fromkeys([*HARMLESS, *config.body, *optional, *FIELDS])
    return [field for field in every if field not in config.without]


def _is_set(config: OpenAIConfig, field: str) -> bool:
    """Whether the user has set a harmless field of the model."""
    return field in config.body or (field == EFFORT and config.effort != "auto")


def _without(config: OpenAIConfig, *fields: str) -> OpenAIConfig:
    return replace(config, without=(*config.without, *fields))


def misnamed(model: str, listed: Iterable[str]) -> str:
    """Return a sentence on a model that the server does not list; empty if it does."""
    names = sorted(listed)
    if not names or model in names:
        return ""
    near = get_close_matches(model, names, n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}? " if near else ""
    more = ", ..." if len(names) > LISTED else ""
    return f"the server has no model {model!r}: {meant}It lists {', '.join(names[:LISTED])}{more}"
