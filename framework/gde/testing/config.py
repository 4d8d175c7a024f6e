"""The configurations of the kit's parts."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from gde.data.activations import InterventionKind
from gde.offers import ModelName


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
    position: str = "pre"
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
    position: str = "message"
    """Whose tokens are read one by one."""


@dataclass(frozen=True, kw_only=True)
class AdvisedConfig(AskingConfig):
    """Whom to ask, and whom before."""

    adviser: ModelName = "appraising"
    """The language model that is asked first."""


@dataclass(frozen=True, kw_only=True)
class JudgeConfig:
    """Whom to ask."""

    model: ModelName = "appraising"
    """The language model that says how far an episode is."""


@dataclass(frozen=True, kw_only=True)
class RecipeConfig:
    """How much is to be done."""

    length: Annotated[int, Field(ge=1)] = 4
    """Steps of the recipe."""


@dataclass(frozen=True, kw_only=True)
class DictationConfig:
    """How much is to be written."""

    lines: Annotated[int, Field(ge=1)] = 3
    """Lines of the text."""


@dataclass(frozen=True, kw_only=True)
class SlowConfig(CorridorConfig):
    """A corridor that takes its time."""

    seconds: Annotated[float, Field(ge=0)] = 0.01
    """Of every step."""
    trap: Annotated[int, Field(ge=-1)] = -1
    """A cell from which no step ever comes back, -1 for none."""
