"""The first request to a server: what it refuses, and which models it has."""

from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

import openai

from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.server_forms import FIELDS, PARALLEL

HARMLESS = ("reasoning_effort", "seed", PARALLEL)
"""Fields without which an answer is drawn as before. Others change the answer, so that
the user must choose.
"""
OTHER_LIMIT: Final = "max_completion_tokens"
MISNAMED = {400, 404, 422}
"""Statuses by which servers refuse a model that they do not have."""
LISTED = 8
"""Most models of a server that a message names."""


def without_refused(config: OpenAIConfig, refusal: str) -> OpenAIConfig | None:
    """Return the options with which a refused request may be repeated.

    Args:
        config: the options of the refused request.
        refusal: the server's message.

    Returns:
        None where the message names no field that can be left out or renamed.
    """
    if OTHER_LIMIT in refusal and config.limit_field != OTHER_LIMIT:
        return replace(config, limit_field=OTHER_LIMIT)
    for field in HARMLESS:
        if field in refusal and field not in config.without:
            return replace(config, without=(*config.without, field))
    return None


def remedy(config: OpenAIConfig, error: openai.APIStatusError, refusal: str) -> str:
    """Return what to set where the server refuses a field; empty for other refusals."""
    # llama-cpp-python refuses fields with a 500.
    if error.status_code not in {*MISNAMED, 500}:
        return ""
    for field in config.body:
        if field in refusal:
            return f"the server refuses {field}: take it out of model.body"
    for field in ("temperature", "top_p", config.limit_field):
        if field in refusal:
            return f"the server refuses {field}: set model.{field}, or leave it out with model.without={field}"
    for field in FIELDS:
        if field in refusal:
            form = "take another form of answers, such as agent.actions=json"
            return f"the server refuses {field}: {form}, or set model.without={field}"
    if "context" in refusal:
        return (
            "the prompt and the answer do not fit the context: set model.context=TOKENS"
        )
    return ""


def misnamed(model: str, listed: Iterable[str]) -> str:
    """Return a sentence on a model that the server does not list; empty if it does."""
    names = sorted(listed)
    if not names or model in names:
        return ""
    near = get_close_matches(model, names, n=1, cutoff=0.4)
    meant = f"did you mean {near[0]}? " if near else ""
    more = ", ..." if len(names) > LISTED else ""
    return f"the server has no model {model!r}: {meant}It lists {', '.join(names[:LISTED])}{more}"
