"""The plan of a run: names, configurations and numbers, not yet looked up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from gde.data.json import Json
from gde.errors import ConfigError
from gde.offers import Offer

NOTHING: Mapping[str, Json] = MappingProxyType({})
Prices = Mapping[str, tuple[float, float]]
"""A model's name, as the plan has it, to the prices of a million tokens of prompts and of answers."""
OBJECT = "python:"
"""How the names of parts begin that are objects of the caller's own."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One named part and the configuration values that the user set for it."""

    name: str
    """The offer's name, or `package:name`."""
    config: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Field to value; for the environment a list is a sweep unless the field itself takes a sequence."""
    alias: str = ""
    """What the run calls the part, so that one offer can be taken twice; empty for its name."""
    part: Any = None
    """The part itself, or what makes it, where it is no offer but the caller's own. A plan file holds its name only."""

    @property
    def label(self) -> str:
        """What the run calls the part."""
        return self.alias or self.name

    @classmethod
    def of(cls, value: Any, alias: str = "") -> "Choice":
        """A choice as it is, a name, an offer, or an object: a part, or a class or function without arguments that
        makes one. The run calls an object by the name of its class or function, and knows it by that alone: objects
        that differ, e.g. in what they were made with, need an `alias` each.

        Raises:
            ConfigError: nothing is given.
        """
        if isinstance(value, Choice):
            return value
        if isinstance(value, str):
            return cls(name=value, alias=alias)
        if value is None:
            raise ConfigError("a part of a plan: wanted a name, a Choice, an Offer or an object, got None")
        if isinstance(value, Offer):
            return cls(name=f"{OBJECT}{_home(value.make)}.{value.name}", alias=alias or value.name, part=value)
        maker = _named(value)
        return cls(name=f"{OBJECT}{_home(value)}.{maker.__qualname__}", alias=alias or maker.__name__, part=value)


def _named(value: Any) -> Any:
    """What gives an object its name: itself, if it is a class or function, else its class."""
    while isinstance(value, partial):
        value = value.func
    return value if hasattr(value, "__qualname__") else type(value)


def _home(value: Any) -> str:
    module: str = _named(value).__module__
    return module


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A request for a run. Two plans with the same `gde.request.planfile.plan_hash` give the same results.

    Parts are given as `Choice`s; names and objects of one's own are made into them.
    """

    environment: Choice
    agent: Choice
    language_model: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Configuration of the language model that the agent's own configuration names."""
    probes: tuple[Choice, ...] = ()
    rewards: tuple[Choice, ...] = ()
    metrics: tuple[Choice, ...] = ()
    """Empty: the default ones, which are then listed by name."""
    episodes: int = 200
    """Worlds per condition, a condition being one combination of the swept environment values."""
    repeats: int = 1
    """Trajectories per world; they differ in the agent's sampling alone."""
    seed: int = 0
    concurrency: int = 32
    """Episodes in flight at once in one worker, and fits of a probe, these as many as there are cores; never changes a
    result."""
    executor: Choice = field(default_factory=lambda: Choice(name="serial"))
    """Where episodes run; never changes a result."""
    reporters: tuple[Choice, ...] = ()
    """Empty: the default ones whose packages are installed; never changes a result."""
    turn_seconds: float | None = None
    """Time for one decision and its consequences; an episode with a longer turn fails. None for no limit."""
    episode_seconds: float | None = None
    """Time for one episode; a longer one fails."""
    run_seconds: float | None = None
    """Time for all episodes; when it is over, the run stops and can be resumed."""
    part_seconds: float | None = None
    """Time for a metric on the run or on a condition of it, and for a report; what takes longer has failed."""
    max_calls: int | None = None
    """Requests to language models, of the whole run; when they are spent, the run stops and can be resumed."""
    max_tokens: int | None = None
    """Tokens of prompts and answers together, likewise; answers that are under way may go beyond."""
    max_cost: float | None = None
    """Money, in the currency of `prices`, likewise. No discounts, e.g. for prompts that a provider has cached."""
    prices: Prices = field(default_factory=dict)
    """What a million tokens cost: of prompts and of answers, reasoning included, by the model's name. With `max_cost`,
    of every model that is asked; one that costs nothing has (0, 0)."""
    cache: str = ""
    """A file of answers that runs share: what was asked at temperature 0 and answered in an earlier run, of the same
    model with the same configuration, is not asked again, and costs nothing. Empty for none."""

    def __post_init__(self) -> None:
        for name in ("environment", "agent", "executor"):
            object.__setattr__(self, name, Choice.of(getattr(self, name)))
        for name in ("probes", "rewards", "metrics", "reporters"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Iterable):
                raise ConfigError(f"{name} of a plan: wanted a list of names and objects, got {given!r}")
            object.__setattr__(self, name, tuple(map(Choice.of, given)))
