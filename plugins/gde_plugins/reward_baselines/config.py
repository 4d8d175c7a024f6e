"""Settings of the baselines."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Ge


@dataclass(frozen=True, kw_only=True)
class ConstantConfig:
    """The constant baseline."""

    value: float = 0.0
    """The reward of every turn."""


@dataclass(frozen=True, kw_only=True)
class FunctionsConfig:
    """Full EPIC and DARD distances."""

    states: Annotated[int, Ge(2)] = 50
    """Maximum number of states of a world. A reward model is asked once for every two
    states and action.
    """
