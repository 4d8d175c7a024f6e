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
from gde_plugins.language_models.hooked import HookedModel
from gde_plugins.language_models.loading import Found, choose_kernels, software
from gde_plugins.language_models.one_in_memory import OneInMemory
from gde_plugins.language_models.transformers_model import DATE, TransformersModel

OF_HOOKED = frozenset({Capability.ACTIVATIONS, Capability.INTERVENTIONS})
INSIDE = ("original_model", "_model", "model")
"""Attributes in which others keep the model of transformers that they wrap:
TransformerLens's TransformerBridge, nnsight's LanguageModel, a pipeline.
"""
WANTED = (
    "wanted a causal model of transformers, or what wraps one (TransformerBridge, nnsight's"
    " LanguageModel, a pipeline)"
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
        model: a causal model of transformers, what wraps one, or a HookedTransformer of
            TransformerLens.
        tokenizer: with a chat template; None for that of the wrapper.
        batch_size: number of conversations generated together.
        date: for chat templates that print one.

    Raises:
        GdeError: there is no model of transformers in it, or no tokenizer.
    """
    is_hooked = hasattr(type(model), "run_with_hooks") and hasattr(model, "cfg")
    weights = model if is_hooked else _weights(model)
    tokenizer = tokenizer if tokenizer is not None else _attribute(model, "tokenizer")
    if tokenizer is None:
        raise GdeError(f"{name}: wanted a tokenizer: in_memory(NAME, MODEL, TOKENIZER)")
    if any(each.is_meta for each in weights.parameters()):
        raise GdeError(f"{name}: its weights are not loaded yet; dispatch it first")
    make = partial(
        _made_of_hooked if is_hooked else _made,
        name=name,
        model=weights,
        tokenizer=tokenizer,
        batch_size=batch_size,
        date=date,
        # Of all runs: hooks of one must not meet the passes of another.
        memory=OneInMemory[Reader](attrgetter("weights")),
    )
    return ModelOffer(
        name=name,
        summary=f"{type(weights).__name__} in memory",
        config=NoConfig,
        make=make,
        gives=OF_HOOKED if is_hooked else OF_HOOKED | {Capability.ACTION_PROBS},
    )


def _made(
    _: object, __: Context, *, name: str, model: Any, tokenizer: Any, **how: Any
) -> TransformersModel:
    model.eval()
    choose_kernels(model)
    versions = _versions(model, tokenizer, model.config.to_json_string())
    found = Found(make=lambda: model, tokenizer=tokenizer, versions=versions)
    return TransformersModel.of(found, name, **how)


def _made_of_hooked(
    _: object, __: Context, *, name: str, model: Any, tokenizer: Any, **how: Any
) -> HookedModel:
    model.eval()
    versions = _versions(model, tokenizer, repr(model.cfg))
    return HookedModel.of_hooked(model, tokenizer, name, versions=versions, **how)


def _versions(model: Any, tokenizer: Any, config: str) -> dict[str, str]:
    """What identifies a model; the caller may have trained it since the last run."""
    read = f"{sorted(tokenizer.get_vocab().items())}{tokenizer.chat_template}"
    identity = {
        "weights": _digest(model),
        "config": _sha256(config),
        "tokenizer": _sha256(read),
    }
    return identity | software()


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
