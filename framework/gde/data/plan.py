"""What is to be run: names, configurations and numbers, nothing yet looked up."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gde.data.json import Json

NOTHING: Mapping[str, Json] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One named part and the configuration values that the user set for it."""

    name: str
    """The offer's name, or `package:name`."""
    config: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Field to value; for the environment a list is a sweep unless the field itself takes a sequence."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request for a run. Two plans with the same `gde.request.planfile.plan_hash` give the same results."""

    environment: Choice
    agent: Choice
    language_model: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Configuration of the language model that the agent's own field `model` names."""
    probes: tuple[Choice, ...] = ()
    rewards: tuple[Choice, ...] = ()
    metrics: tuple[Choice, ...] = ()
    """Empty: every offered metric whose needs the run meets."""
    episodes: int = 200
    """Worlds per stratum, a stratum being one combination of the swept environment values."""
    repeats: int = 1
    """Trajectories per world; they differ in the agent's sampling alone."""
    seed: int = 0
    concurrency: int = 32
    """Episodes in flight at once in one worker; never changes a result."""
    executor: Choice = field(default_factory=lambda: Choice(name="serial"))
    """Where episodes run; never changes a result."""
    reporters: tuple[Choice, ...] = ()
    """Empty: every offered reporter whose packages are installed; never changes a result."""
