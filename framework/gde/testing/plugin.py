"""Offers the kit's parts by name, for runs in tests.

Name this module in GDE_LOAD_PLUGINS.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from gde.hookspecs import hookimpl
from gde.offers import (
    AnyOffer,
    Capability,
    EnvironmentOffer,
    ModelName,
    ModelOffer,
    Offer,
    ProbeOffer,
)
from gde.testing.parts import (
    AskingAgent,
    Corridor,
    PlantedModel,
    ScriptedAgent,
)
from gde.testing.plan_probe import PlanProbe

OF_CORRIDOR = frozenset(
    {
        Capability.STATE,
        Capability.MDP,
        Capability.SNAPSHOT,
        Capability.SIMULATOR,
        Capability.MAP,
    }
)
OF_MODEL = frozenset({Capability.ACTIVATIONS, Capability.INTERVENTIONS})
"""What the planted model gives, and an agent that asks it."""


@dataclass(frozen=True, kw_only=True)
class CorridorConfig:
    """A row of cells."""

    length: Annotated[int, Field(ge=2)] = 3
    """Cells; the goal is in the last."""


@dataclass(frozen=True, kw_only=True)
class ScriptedConfig:
    """A fixed behaviour."""

    actions: tuple[str, ...] = ("RIGHT",)
    """Taken in turn, from the first again after the last."""


@dataclass(frozen=True, kw_only=True)
class AskingConfig:
    """An agent's model."""

    model: ModelName = "planted"
    """The language model that answers."""


@dataclass(frozen=True, kw_only=True)
class PlantedConfig:
    """A model with planted activations."""

    width: Annotated[int, Field(ge=1)] = 64
    """Of the residual stream."""


@dataclass(frozen=True, kw_only=True)
class PlanConfig:
    """A decoder of the next actions."""

    ahead: Annotated[int, Field(ge=1)] = 3
    """Actions, from the present turn on."""
    layer: tuple[int, ...] = (0,)
    """Decoder layers, each read by a probe of its own."""
    position: str = "message"
    """The position whose tokens are read one by one."""
    trained_on: str = ""
    """Folder of another run, to whose worlds it is fitted."""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The corridor."""
    return (
        EnvironmentOffer(
            name="corridor",
            summary="A row of cells with the goal in the last.",
            config=CorridorConfig,
            make=lambda config, _: Corridor(config.length),
            gives=OF_CORRIDOR,
        ),
    )


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """Agents that follow a script, or ask a model."""
    return (
        Offer(
            name="scripted",
            summary="Takes given actions in turn.",
            config=ScriptedConfig,
            make=lambda config, _: ScriptedAgent(config.actions),
        ),
        Offer(
            name="asking",
            summary="Takes the language model's answer as the action.",
            config=AskingConfig,
            make=lambda config, context: AskingAgent(context.model(config.model)),
            gives=OF_MODEL,
        ),
    )


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """The planted model."""
    return (
        ModelOffer(
            name="planted",
            summary="Answers RIGHT unless steered; the text is planted in its activations.",
            config=PlantedConfig,
            make=lambda config, _: PlantedModel(width=config.width),
            gives=OF_MODEL,
        ),
    )


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """The decoder of next actions."""
    return (
        ProbeOffer(
            name="moves",
            summary="Decodes the next actions in a corridor from single tokens.",
            config=PlanConfig,
            make=lambda config, _: PlanProbe(
                ahead=config.ahead, layers=config.layer, position=config.position
            ),
            needs={Capability.ACTIVATIONS},
        ),
    )
