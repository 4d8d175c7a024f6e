"""Offers the kit's parts by name, for runs in tests: name this module in GDE_LOAD_PLUGINS."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from gde.data.activations import InterventionKind
from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, ModelName, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context

OF_MODEL = frozenset({Facet.ACTIVATIONS, Facet.INTERVENTIONS})
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
    """Whom to ask."""

    model: ModelName = "planted"
    """The language model that answers."""


@dataclass(frozen=True, kw_only=True)
class SteeringConfig(AskingConfig):
    """Whom to ask, and how to turn its answer."""

    layer: int = 0
    """Decoder layer at whose output the residual stream is changed."""
    mark: str = "pre"
    """At which tokens of the prompt."""
    kind: InterventionKind = "add"
    """What is done with the vector."""
    vector: tuple[float, ...] = ()
    """As wide as the stream; empty for the direction that turns the planted model."""
    strength: float = 2.0
    """By which the vector is multiplied; the planted model turns well above 1."""


@dataclass(frozen=True, kw_only=True)
class PlantedConfig:
    """Its size."""

    width: Annotated[int, Field(ge=1)] = 64
    """Of the residual stream."""


@dataclass(frozen=True, kw_only=True)
class PlanConfig:
    """What of the plan is decoded."""

    ahead: Annotated[int, Field(ge=1)] = 3
    """Actions, from the present turn on."""
    layer: tuple[int, ...] = (0,)
    """Decoder layers, each read by a probe of its own."""
    mark: str = "message"
    """Whose tokens are read one by one."""


@hookimpl
def gde_environments() -> Sequence[AnyOffer]:
    """The corridor."""
    return (
        Offer(
            name="corridor",
            summary="A row of cells with the goal in the last.",
            config=CorridorConfig,
            make=_corridor,
            gives=frozenset({Facet.STATE, Facet.MDP, Facet.SNAPSHOT, Facet.MAP}),
        ),
    )


@hookimpl
def gde_agents() -> Sequence[AnyOffer]:
    """One agent that follows a script, one that asks a model and one that steers it."""
    return (
        Offer(name="scripted", summary="Takes given actions in turn.", config=ScriptedConfig, make=_scripted),
        Offer(
            name="asking",
            summary="Takes the language model's answer as the action.",
            config=AskingConfig,
            make=_asking,
            gives=OF_MODEL,
        ),
        Offer(
            name="steering",
            summary="Asks under an intervention, which turns the planted model.",
            config=SteeringConfig,
            make=_steering,
            gives=OF_MODEL,
            needs=frozenset({Facet.INTERVENTIONS}),
        ),
    )


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """The planted model."""
    return (
        Offer(
            name="planted",
            summary="Always answers RIGHT unless steered; the text is planted in its activations.",
            config=PlantedConfig,
            make=_planted,
            gives=OF_MODEL,
        ),
    )


@hookimpl
def gde_probes() -> Sequence[AnyOffer]:
    """The plan decoder."""
    return (
        Offer(
            name="plan",
            summary="Decodes the next actions in a corridor from single tokens.",
            config=PlanConfig,
            make=_plan,
            needs=frozenset({Facet.ACTIVATIONS}),
        ),
    )


def _corridor(config: CorridorConfig, _: "Context") -> object:
    from gde.testing.parts import Corridor

    return Corridor(config.length)


def _scripted(config: ScriptedConfig, _: "Context") -> object:
    from gde.testing.parts import ScriptedAgent

    return ScriptedAgent(config.actions)


def _asking(config: AskingConfig, context: "Context") -> object:
    from gde.testing.parts import AskingAgent

    return AskingAgent(context.model(config.model))


def _steering(config: SteeringConfig, context: "Context") -> object:
    import numpy as np

    from gde.data.activations import Intervention
    from gde.testing.parts import AskingAgent

    model: Any = context.model(config.model)
    vector = np.asarray(config.vector, dtype=np.float32) if config.vector else model.turning
    vector = vector * np.float32(config.strength)
    change = Intervention(layer=config.layer, mark=config.mark, kind=config.kind, vector=vector)
    return AskingAgent(model, (change,))


def _planted(config: PlantedConfig, _: "Context") -> object:
    from gde.testing.parts import PlantedModel

    return PlantedModel(width=config.width)


def _plan(config: PlanConfig, _: "Context") -> object:
    from gde.testing.plan_probe import PlanProbe

    return PlanProbe(ahead=config.ahead, layers=config.layer, mark=config.mark)
