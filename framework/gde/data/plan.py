"""The plan of a run: what is measured. `gde.data.how` says how."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial, wraps
from types import MappingProxyType
from typing import Any, TypeVar

from gde.data.json import Json
from gde.data.ranges import Count, Index
from gde.errors import ConfigError
from gde.offers import Offer

T = TypeVar("T")
NOTHING: Mapping[str, Json] = MappingProxyType({})
OBJECT = "python:"
"""The prefix in the names of parts that are the caller's own objects."""


def checked_fields(whose: str) -> Callable[[type[T]], type[T]]:
    """Check what a dataclass is made of: the names of its fields, and their values."""

    def decorate(kind: type[T]) -> type[T]:
        fill: Any = kind.__init__

        @wraps(fill)
        def checked(self: T, *args: Any, **given: Any) -> None:
            # Imported late, since it needs pydantic.
            from gde.validating import bound, check_fields

            bound(kind, args, given)
            fill(self, *args, **given)
            check_fields(self, whose)

        kind.__init__ = checked  # type: ignore[assignment, method-assign]
        return kind

    return decorate


@checked_fields("Choice")
@dataclass(frozen=True, kw_only=True)
class Choice:
    """One named part and the configuration values that the user set for it."""

    name: str
    """The offer's name, or `package:name`."""
    config: Mapping[str, Json] = field(default_factory=lambda: NOTHING)
    """Field to value; for the environment a list is a sweep unless the field itself
    takes a sequence.
    """
    alias: str = ""
    """Another name for the part in this run, so that a plan can use one offer twice;
    empty for its own name.
    """
    part: Any = None
    """The caller's own part, or the class or function that makes it; None for an offer.
    A plan file holds its name only.
    """

    @property
    def label(self) -> str:
        """The name of the part in the run."""
        return self.alias or self.name

    @property
    def is_object(self) -> bool:
        """Whether the part is the caller's own, here or where the plan was made."""
        return self.part is not None or self.name.startswith(OBJECT)

    @classmethod
    def of(cls, value: Any, alias: str = "") -> "Choice":
        """Make a choice of a name, an offer or an object; a choice stays as it is.

        An object is a part, or a class or function without arguments that makes one.
        The run identifies it by the name of its class or function alone. Two objects of
        one class therefore need an `alias` each.

        Raises:
            ConfigError: nothing is given.
        """
        if isinstance(value, Choice):
            return value
        if isinstance(value, str):
            return cls(name=value, alias=alias)
        if value is None:
            raise ConfigError(
                "a part of a plan: wanted a name, a Choice, an Offer or an object, got None"
            )

        maker = _named(value.make if isinstance(value, Offer) else value)
        module, name, label = maker.__module__, maker.__qualname__, maker.__name__
        if isinstance(value, Offer):
            name = label = value.name
            path = value.part or value.make
            if isinstance(path, str):
                module, _, _ = path.partition(":")
        return cls(name=f"{OBJECT}{module}.{name}", alias=alias or label, part=value)


def _named(value: Any) -> Any:
    """The class or function that names an object: itself, or else its class."""
    # A partial has no name of its own, and its class is that of all partials.
    while isinstance(value, partial):
        value = value.func
    if hasattr(value, "__qualname__"):
        return value
    return type(value)


class PartField:
    """A field that takes a part's name or an object, and holds its choice.

    A descriptor, because type checkers read from it what the field takes and gives.
    """

    def __init__(self, default: str | None = None) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, plan: object | None, owner: type | None = None) -> Choice:
        if plan is not None:
            choice: Choice = vars(plan)[self._name]
            return choice
        # A dataclass asks the class for the field's default.
        if self._default is None:
            raise AttributeError(self._name)
        return Choice(name=self._default)

    def __set__(self, plan: object, given: object) -> None:
        if isinstance(given, list | tuple | set | dict):
            raise ConfigError(
                f"{self._name}: wanted one name or object, got {given!r}; make a plan for each"
            )
        vars(plan)[self._name] = Choice.of(given)


class PartsField:
    """A field that takes names of parts and objects, and holds their choices."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(
        self, plan: object | None, owner: type | None = None
    ) -> tuple[Choice, ...]:
        return () if plan is None else vars(plan)[self._name]

    def __set__(self, plan: object, given: Iterable[object]) -> None:
        # A single name is iterable too, and would become one choice for each letter.
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ConfigError(
                f"{self._name}: wanted a list of names and objects, got {given!r}"
            )
        vars(plan)[self._name] = tuple(map(Choice.of, given))


@checked_fields("run")
@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run measures.

    Two plans with the same `gde.request.planfile.plan_hash` give the same results,
    however they are run (`gde.How`).

    Parts may be given as names or objects: `Choice.of` makes choices of them.

    Raises:
        ConfigError: a field has a value that it does not take, or lacks one.
        UnknownName: there is no such field.
    """

    environment: PartField = PartField()
    """Like every part: the name of an offer, an object of one's own, or a `Choice`."""
    agent: PartField = PartField()
    """Who acts in it."""
    models: PartsField = PartsField()
    """Language models that configurations name, by label. A choice with an empty name
    configures the agent's model, whichever that is.
    """
    probes: PartsField = PartsField()
    """Readers of the model's activations."""
    rewards: PartsField = PartsField()
    """Reward models, which judge every step."""
    metrics: PartsField = PartsField()
    """Empty for the default ones, which the run then lists by name."""
    episodes: Count = 200
    """Worlds per condition. A condition is one combination of the swept environment
    values.
    """
    repeats: Count = 1
    """Trajectories per world. They differ in the agent's sampling alone."""
    goal_swap: bool = False
    """Whether each world is played again with its goal moved: with another of the goals
    that its generator could have drawn.
    """
    seed: Index = 0
    initialisations: Count | None = None
    """Random initialisations of the model, to each of which the probes' control
    `untrained` is fitted. Fewer than 5 give no verdict. None for 19; for 5 of a model of
    more than about a billion parameters, or where a probe reads all turns.
    """
    learning: bool = True
    """Whether code lengths and learning curves of probes are measured."""
