"""From a plan to parts that are ready to be made: names looked up, configurations typed, sweeps crossed."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from itertools import product
from typing import Any

from gde.data.json import Json, Labels
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError
from gde.offers import Facet
from gde.parts.language_model import LanguageModel
from gde.request.catalogue import Catalogue, Entry, Kind
from gde.request.plugins import Plugins, load_plugins
from gde.request.settings import build, dump, sweep

MODEL_FIELD = "model"
SOURCE_FIELD = "source"


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """One part of the plan with its typed configuration."""

    name: str
    entry: Entry
    config: Any

    def make(self) -> Any:
        """A new part."""
        return self.entry.offer.make(self.config)


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """One combination of the swept environment values."""

    labels: Labels
    environment: Chosen


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A plan whose every part is known. `check.check` says whether the parts fit together."""

    plan: Plan
    """With every configuration complete, defaults included."""
    plugins: Plugins
    strata: tuple[Stratum, ...]
    agent: Chosen
    language_model: Chosen | None
    probes: tuple[Chosen, ...]
    rewards: tuple[Chosen, ...]
    metrics: tuple[Chosen, ...]
    reporters: tuple[Chosen, ...]
    executor: Chosen

    @cached_property
    def model(self) -> LanguageModel | None:
        """The language model: made when first asked for, once in a process, shared by everything in the run."""
        return self.language_model.make() if self.language_model else None

    @cached_property
    def worlds(self) -> tuple[tuple[str, ...], ...]:
        """Names of the worlds that each stratum lists, none where every seed makes another. Environments that may have
        a list are made to find out.

        Raises:
            GdeError: a list cannot be had.
        """
        return tuple(_listed(stratum.environment) for stratum in self.strata)

    def close(self) -> None:
        """Release the language model, if it was ever made."""
        if "model" in self.__dict__ and self.model is not None:
            self.model.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds the same plugins again and resolves the same plan; parts are never pickled."""
        return _rebuilt, (self.plan, self.plugins.disabled, self.plugins.modules)

    @property
    def gives(self) -> frozenset[Facet]:
        """What the environment and the agent, with its language model, give to the other parts."""
        given = self.strata[0].environment.entry.offer.gives | self.agent.entry.offer.gives
        model = self.language_model.entry.offer.gives if self.language_model else frozenset()
        return given if Facet.ACTIVATIONS in model else given - {Facet.ACTIVATIONS}


def resolve(plan: Plan, catalogue: Catalogue) -> Ready:
    """Look up and configure every part of a plan.

    Raises:
        UnknownName: a name or a field that does not exist.
        ConfigError: a value out of range.
    """
    strata, environment = cross(plan.environment, catalogue)
    agent = _chosen("agent", plan.agent, catalogue, "agent")
    model = _language_model(agent, plan.language_model, catalogue)
    executor = _chosen("executor", plan.executor, catalogue, "executor")
    several: dict[str, tuple[Chosen, ...]] = {}
    kinds: Mapping[str, Kind] = {
        "probes": "probe",
        "rewards": "reward_model",
        "metrics": "metric",
        "reporters": "reporter",
    }
    for field, kind in kinds.items():
        several[field] = tuple(_chosen(kind, choice, catalogue, choice.name) for choice in getattr(plan, field))
        _check_distinct(kind, several[field])
    choices: dict[str, Any] = {field: tuple(map(_complete, chosen)) for field, chosen in several.items()}
    complete = replace(
        plan,
        environment=environment,
        agent=_complete(agent),
        executor=_complete(executor),
        language_model=dump(model.config) if model else {},
        **choices,
    )
    ready = Ready(
        plan=complete,
        plugins=catalogue.plugins,
        strata=strata,
        agent=agent,
        language_model=model,
        executor=executor,
        **several,
    )
    for field, kind in (("metrics", "metric"), ("reporters", "reporter")):
        ready = ready if getattr(plan, field) else _with_all(ready, catalogue, field, kind)
    return ready


def _chosen(kind: Kind, choice: Choice, catalogue: Catalogue, whose: str) -> Chosen:
    entry = catalogue.find(kind, choice.name)
    return Chosen(name=choice.name, entry=entry, config=build(entry.offer.config, choice.config, whose))


def _complete(chosen: Chosen) -> Choice:
    return Choice(name=chosen.name, config=dump(chosen.config))


def _check_distinct(kind: Kind, chosen: tuple[Chosen, ...]) -> None:
    names = [part.name for part in chosen]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(f"{kind} {repeated[0]!r} is asked for twice; name each once")


def cross(choice: Choice, catalogue: Catalogue) -> tuple[tuple[Stratum, ...], Choice]:
    """The strata of an environment, one for each combination of swept values, and the choice with all its values."""
    entry = catalogue.find("environment", choice.name)
    alternatives = sweep(entry.offer.config, choice.config, "env")
    swept = [name for name, values in alternatives.items() if len(values) > 1]
    strata = []
    for combination in product(*alternatives.values()):
        values = dict(zip(alternatives, combination, strict=True))
        labels = {name: _label(values[name]) for name in swept}
        config = build(entry.offer.config, values, "env")
        strata.append(Stratum(labels=labels, environment=Chosen(name=choice.name, entry=entry, config=config)))
    config = dump(strata[0].environment.config)
    config.update({name: values for name, values in alternatives.items() if len(values) > 1})
    return tuple(strata), Choice(name=choice.name, config=config)


def _label(value: Json) -> str | int | float | bool:
    """A swept value as a label; no value is "none", as it is written in a setting and as variations are told from."""
    if value is None:
        return "none"
    return value if isinstance(value, str | int | float | bool) else str(value)


def _listed(chosen: Chosen) -> tuple[str, ...]:
    if Facet.WORLDS not in chosen.entry.offer.gives:
        return ()
    environment = chosen.make()
    try:
        return tuple(environment.worlds())
    finally:
        environment.close()


def _language_model(agent: Chosen, values: Mapping[str, Json], catalogue: Catalogue) -> Chosen | None:
    """The model that the agent's config names as NAME, NAME:ARGUMENT or plugin:NAME."""
    reference = getattr(agent.config, MODEL_FIELD, None)
    if not isinstance(reference, str):
        if values:
            raise ConfigError(f"model.{next(iter(values))}: agent {agent.name!r} uses no language model")
        return None
    name, _, argument = reference.partition(":")
    if name not in catalogue.names("language_model") and argument:
        plugin, (name, _, argument) = name, argument.partition(":")
        name = f"{plugin}:{name}"
    entry = catalogue.find("language_model", name)
    return Chosen(name=reference, entry=entry, config=_model_config(entry, argument, values, reference))


def _model_config(entry: Entry, argument: str, values: Mapping[str, Json], reference: str) -> Any:
    """ARGUMENT goes into the field `source`; a model whose `source` has no default cannot do without it."""
    source = next((field for field in fields(entry.offer.config) if field.name == SOURCE_FIELD), None)
    given = {SOURCE_FIELD: argument, **values} if argument else values
    if argument and values.get(SOURCE_FIELD, argument) != argument:
        got = f"got {values[SOURCE_FIELD]!r}; drop one of them"
        raise ConfigError(f"model.{SOURCE_FIELD}: wanted {argument!r} as agent.{MODEL_FIELD} says, {got}")
    if argument and source is None:
        raise ConfigError(f"agent.{MODEL_FIELD}: wanted {entry.offer.name}, got {reference!r}")
    if source is not None and source.default is MISSING and SOURCE_FIELD not in given:
        raise ConfigError(f"agent.{MODEL_FIELD}: wanted {entry.offer.name}:SOURCE, got {reference!r}")
    return build(entry.offer.config, given, "model")


def _with_all(ready: Ready, catalogue: Catalogue, field: str, kind: Kind) -> Ready:
    """Without a choice, take every part of the kind whose needs are met and whose packages are there."""
    names = set(catalogue.names(kind))
    chosen = tuple(
        _chosen(kind, Choice(name=entry.offer.name), catalogue, entry.offer.name)
        for entry in catalogue.entries(kind)
        if entry.offer.name in names and entry.offer.needs <= ready.gives and not entry.offer.missing()
    )
    parts: dict[str, Any] = {field: chosen}
    plan: dict[str, Any] = {field: tuple(map(_complete, chosen))}
    return replace(ready, **parts, plan=replace(ready.plan, **plan))


def _rebuilt(plan: Plan, disabled: tuple[str, ...], modules: tuple[str, ...]) -> Ready:
    return resolve(plan, Catalogue(load_plugins(disabled, modules)))
