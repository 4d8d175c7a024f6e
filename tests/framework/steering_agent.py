"""An agent that asks with an intervention, which turns the planted model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gde.data.activations import Intervention, InterventionKind
from gde.offers import Capability, Offer
from gde.parts.context import Context
from gde.testing.parts import AskingAgent
from gde.testing.plugin import OF_MODEL, AskingConfig


@dataclass(frozen=True, kw_only=True)
class SteeringConfig(AskingConfig):
    """An agent's model, and the change of its residual stream."""

    layer: int = 0
    """Decoder layer at whose output the residual stream is changed."""
    position: str = "pre"
    """The tokens of the prompt that are changed."""
    kind: InterventionKind = "add"
    """The use of the vector."""
    vector: tuple[float, ...] = ()
    """As wide as the stream; empty for the direction that turns the planted model."""
    strength: float = 2.0
    """By which the vector is multiplied; the planted model turns well above 1."""


def _steering(config: SteeringConfig, context: Context) -> AskingAgent:
    model: Any = context.model(config.model)
    vector = model.turning
    if config.vector:
        vector = np.asarray(config.vector, dtype=np.float32)
    change = Intervention(
        layer=config.layer,
        position=config.position,
        kind=config.kind,
        vector=vector * np.float32(config.strength),
    )
    return AskingAgent(model, (change,))


STEERING = Offer(
    name="steering",
    summary="Asks with an intervention, which turns the planted model.",
    config=SteeringConfig,
    make=_steering,
    gives=OF_MODEL,
    needs={Capability.INTERVENTIONS},
)
