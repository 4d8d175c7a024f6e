"""The JSON that a server is sent for a request."""

from typing import Any, TypeVar

from gde.data.completion import ChatRequest
from gde_plugins.language_models.config import OpenAIConfig
from gde_plugins.language_models.server_forms import form_fields

NumberT = TypeVar("NumberT", int, float)
EFFORT = "reasoning_effort"
IDS = "return_token_ids"
"""The field by which vLLM and SGLang give the token ids of prompt and answer."""
USAGE = "stream_options"
"""The field by which an answer in pieces also has the number of its tokens."""
SEEDS = 2**31
"""Upper bound of seeds: servers accept different integers, and all accept these."""
BYTES_PER_TOKEN = 2
"""A low number, so that a prompt is rather thought longer than it is: drawings of
grids have two bytes a token, English texts four.
"""
TEMPLATE = 16
"""Tokens that a chat template adds to each message, at most."""


def request_body(
    request: ChatRequest, model: str, config: OpenAIConfig
) -> dict[str, Any]:
    """Return the body of a request to the model of this name."""
    sampling = request.sampling
    effort = _effort(request, config)
    body = {
        "model": model,
        "messages": [
            {"role": message.role, "content": message.content}
            for message in request.messages
        ],
        "seed": request.seed % SEEDS,
        "temperature": _first(config.temperature, sampling.temperature),
        "top_p": _first(config.top_p, sampling.top_p),
        config.limit_field: sent_limit(request, config),
        IDS: True,
        **form_fields(request),
        **({EFFORT: effort} if effort else {}),
        **({"logprobs": True} if config.logprobs else {}),
        **({"stream": True, USAGE: {"include_usage": True}} if config.stream else {}),
        **config.body,
    }
    return {name: value for name, value in body.items() if name not in config.without}


def sent_effort(request: ChatRequest, config: OpenAIConfig) -> str | None:
    """Return the reasoning effort that the server is sent; None for none."""
    return None if EFFORT in config.without else _effort(request, config)


def asks_likeliest(request: ChatRequest, config: OpenAIConfig) -> bool:
    """Return whether the server is asked for the likeliest token at every place.

    Not where it enforces a form, or is sent fields that may do anything.
    """
    temperature = _first(config.temperature, request.sampling.temperature)
    is_sent = "temperature" not in config.without
    is_free = request.form is None and not config.body
    return temperature == 0 and is_sent and is_free


def _effort(request: ChatRequest, config: OpenAIConfig) -> str | None:
    return request.effort if config.effort == "auto" else config.effort


def sent_limit(request: ChatRequest, config: OpenAIConfig) -> int:
    """Return the most tokens of the answer, which the context must hold."""
    limit = _first(config.max_tokens, request.sampling.max_tokens)
    if config.context is None:
        return limit
    prompt = 0
    for message in request.messages:
        prompt += TEMPLATE + len(message.content.encode()) // BYTES_PER_TOKEN
    return max(1, min(limit, config.context - prompt))


def _first(own: NumberT | None, asked: NumberT) -> NumberT:
    return asked if own is None else own
