"""A model behind a server, which gives text and counts alone, and a probe of local
weights: a plugin of the tests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from odd_parts import WhereProbe

from gde import (
    Capability,
    ChatRequest,
    Completion,
    ModelOffer,
    ProbeOffer,
    WeightsName,
    hookimpl,
)
from gde.testing.parts import ScriptedModel


@dataclass(frozen=True)
class ServedConfig:
    gives_ids: bool = False
    logprob: float = 0.0
    """Of every token; none are given for 0."""
    miscounts: str = ""
    """Prompts with this text have one token more there."""


@dataclass
class Served(ScriptedModel):
    """Answers as the planted model does."""

    config: ServedConfig = ServedConfig()

    async def complete(self, request: ChatRequest) -> Completion:
        local = await super().complete(request)
        config = self.config
        logprobs = (config.logprob,) * len(local.tokens) if config.logprob else ()
        served = replace(local, positions={}, logprobs=logprobs)
        if not config.gives_ids:
            served = replace(served, prompt_tokens=(), tokens=())
        shown = request.messages[-1].content
        if config.miscounts and config.miscounts in shown:
            served = replace(served, n_prompt=(local.n_prompt or 0) + 1)
        return served


@dataclass(frozen=True)
class WhereConfig:
    weights: WeightsName = ""
    layer: int = 1


@hookimpl
def gde_language_models() -> Sequence[ModelOffer[Any, Any]]:
    return (
        ModelOffer(
            name="served",
            summary="s",
            config=ServedConfig,
            make=lambda config, _: Served(config=config),
        ),
    )


@hookimpl
def gde_probes() -> Sequence[ProbeOffer[Any, Any]]:
    return (
        ProbeOffer(
            name="cells",
            summary="s",
            config=WhereConfig,
            make=lambda config, _: WhereProbe(layer=config.layer),
            needs={Capability.ACTIVATIONS},
        ),
    )
