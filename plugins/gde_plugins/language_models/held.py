"""Models that the caller holds in memory, as language models of runs."""

import hashlib
from collections.abc import Iterator
from functools import partial
from operator import attrgetter
from typing import Any

import torch
from torch import nn
from transformers import PreTrainedModel

from gde.errors import GdeError
from gde.offers import Capability, ModelOffer, NoConfig
from gde.parts.context import Context
from gde.parts.language_model import LanguageModel
from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.loading import Found, choose_kernels, software
from gde_plugins.language_models.one_in_memory import OneInMemory
from gde_plugins.language_models.transformers_model import DATE, TransformersModel

INSIDE = ("original_model", "_module", "model")
"""Attributes in which others keep the model of transformers that they wrap:
TransformerBridge of TransformerLens, TransformersModel of nnsight, a pipeline.
"""
WANTED = (
    "wanted a causal model of transformers, or what wraps one (TransformerBridge,"
    " TransformersModel of nnsight, a pipeline)"
)


def in_memory(
    name: str,
    model: Any,
    tokenizer: Any = None,
    *,
    batch_size: int = 32,
    date: str = DATE,
) -> ModelOffer[Any, LanguageModel]:
    """Offer a model that is in memory, for `Plan(models=[...])` and `gde.probe`.

    The weights stay the caller's: they are neither copied nor changed, and not to be
    changed during the run. The model is left in evaluation mode and, on a CPU, with the
    kernels that gde takes there.

    Args:
        name: by which parts name the model.
        model: a causal model of transformers, or what wraps one.
        tokenizer: with a chat template; None for that of the wrapper.
        batch_size: number of conversations generated together.
        date: for chat templates that print one.

    Raises:
        GdeError: there is no model of transformers in it, or no tokenizer.
    """
    weights = _weights(model)
    tokenizer = tokenizer if tokenizer is not None else _attribute(model, "tokenizer")
    if tokenizer is None:
        raise GdeError(f"{name}: wanted a tokenizer: in_memory(NAME, MODEL, TOKENIZER)")
    if any(each.is_meta for each in weights.parameters()):
        raise GdeError(f"{name}: its weights are not loaded yet; dispatch it first")
    make = partial(
        _made,
        name=name,
        model=weights,
        tokenizer=tokenizer,
        batch_size=batch_size,
        date=date,
        # Of all runs: hooks of one must not meet the passes of another.
        memory=OneInMemory[Reader](attrgetter("original")),
    )
    return ModelOffer(
        name=name,
        summary=f"{type(weights).__name__} in memory",
        config=NoConfig,
        make=make,
        gives=frozenset(
            {
                Capability.ACTIVATIONS,
                Capability.ACTION_PROBS,
                Capability.INTERVENTIONS,
            }
        ),
    )


def _made(
    _: object, __: Context, *, name: str, model: Any, tokenizer: Any, **how: Any
) -> TransformersModel:
    model.eval()
    choose_kernels(model)
    # The caller may have trained it since the last run.
    versions = {
        "weights": _digest(model),
        "config": _sha256(model.config.to_json_string()),
        "tokenizer": _sha256(
            f"{sorted(tokenizer.get_vocab().items())}{tokenizer.chat_template}"
        ),
    }
    found = Found(
        make=lambda: model, tokenizer=tokenizer, versions=versions | software()
    )
    return TransformersModel.of(found, name, **how)


def _weights(model: Any) -> Any:
    """The model of transformers in what the caller holds."""
    if isinstance(model, PreTrainedModel):
        return model
    for name in INSIDE:
        inner = _attribute(model, name)
        if isinstance(inner, PreTrainedModel):
            return inner
    raise GdeError(f"in_memory: {WANTED}, got {type(model).__name__}")


def _attribute(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name, None)
    # Wrappers look up what they lack in many ways.
    except Exception:
        return None


def _digest(model: nn.Module) -> str:
    """SHA-256 of all weights by name, in hexadecimal."""
    digest = hashlib.sha256()
    for name, weights in _tensors(model):
        digest.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
        flat = weights.detach().reshape(-1).contiguous().view(torch.uint8)
        digest.update(flat.cpu().numpy().data)
    return digest.hexdigest()


def _tensors(model: nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from model.named_parameters()
    yield from model.named_buffers()


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
