"""An offer: a named part, its typed configuration and how to make it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

ConfigT = TypeVar("ConfigT")
PartT = TypeVar("PartT")


class Facet(Enum):
    """What a part can give to, or needs from, the others of a run."""

    STATE = "state"
    """The true state of every turn."""
    MODEL = "model"
    """A tabular model of the environment, hence certified optimal actions."""
    WORLDS = "worlds"
    """A list of worlds, for some configurations at least."""
    ACTIVATIONS = "activations"
    """Replayable token ids of a white-box language model."""
    ACTION_PROBS = "action_probs"
    """The agent's probability of every action."""
    REWARD_TRACE = "reward_trace"
    """Predicted rewards."""
    GRID = "grid"
    """World facts `rows`, state fact `agent` and a goal, as `gde.data.grid` reads them."""


@dataclass(frozen=True)
class NoConfig:
    """The configuration of a part that has nothing to configure."""


@dataclass(frozen=True, kw_only=True)
class Offer(Generic[ConfigT, PartT]):
    """One entry of a plugin's list."""

    name: str
    summary: str
    """One line, shown by `gde list`."""
    config: type[ConfigT]
    """A frozen dataclass; a docstring under each field is its help text. A field `model: str` of an agent names a
    language model as NAME or NAME:ARGUMENT."""
    make: Callable[[ConfigT], PartT]
    """Builds the part; heavy imports happen inside."""
    version: int = 1
    """Bumped whenever the same configuration gives other results."""
    gives: frozenset[Facet] = frozenset()
    needs: frozenset[Facet] = frozenset()
    imports: tuple[str, ...] = ()
    """Top-level modules that `make` imports beyond the core's dependencies."""
    extra: str = ""
    """The extra of the distribution that installs `imports`."""

    def missing(self) -> tuple[str, ...]:
        """Those of `imports` that are not installed; nothing is imported to find out."""
        return tuple(module for module in self.imports if find_spec(module) is None)


AnyOffer = Offer[Any, Any]
