"""Offers the kit's parts by name, for runs in tests: name this module in GDE_LOAD_PLUGINS."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from gde.hookspecs import hookimpl
from gde.offers import AnyOffer, Facet, ModelName, NoConfig, Offer

if TYPE_CHECKING:
    from gde.parts.context import Context


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
    """One agent that follows a script and one that asks a model."""
    return (
        Offer(name="scripted", summary="Takes given actions in turn.", config=ScriptedConfig, make=_scripted),
        Offer(
            name="asking",
            summary="Takes the language model's answer as the action.",
            config=AskingConfig,
            make=_asking,
            gives=frozenset({Facet.ACTIVATIONS}),
        ),
    )


@hookimpl
def gde_language_models() -> Sequence[AnyOffer]:
    """The planted model."""
    return (
        Offer(
            name="planted",
            summary="Always answers RIGHT; the text is planted in its activations.",
            config=NoConfig,
            make=_planted,
            gives=frozenset({Facet.ACTIVATIONS}),
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


def _planted(_: NoConfig, __: "Context") -> object:
    from gde.testing.parts import PlantedModel

    return PlantedModel()
