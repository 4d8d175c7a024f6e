"""The parts that a plan names: offers looked up, configurations typed, swept environments crossed."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from gde.data.json import Json, Labels
from gde.data.plan import OBJECT, Choice
from gde.errors import ConfigError, GdeError
from gde.parts.context import Context
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS
from gde.request.model_names import check_settings, check_task, find_model, model_names
from gde.request.objects import absent_entry, object_entry
from gde.request.references import reward_names
from gde.request.settings import build, dump, sweep


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """One part of the plan with its typed configuration."""

    kind: str
    name: str
    label: str
    """What the run calls it."""
    entry: Entry
    config: Any
    absent: str = ""
    """Why it cannot be made here; empty when it can."""

    def make(self, context: Context) -> Any:
        """A new part."""
        return self.entry.offer.make(self.config, context)

    @property
    def needs(self) -> frozenset[str]:
        """The facets that it needs as it is configured."""
        offer = self.entry.offer
        return offer.needs | offer.needs_for(self.config)

    def choice(self, asked: Choice) -> Choice:
        """What was asked for, with its configuration complete."""
        return asked if self.absent else replace(asked, config=dump(self.config))


def settable(error: GdeError, judge: str) -> ConfigError:
    """What is wrong with a reward model that only another part names, and how it gets settings."""
    return ConfigError(f"{error}; add --reward {judge} to set it")


@dataclass(frozen=True, kw_only=True)
class Stratum:
    """One combination of the swept environment values."""

    labels: Labels
    environment: Chosen


@dataclass(frozen=True)
class Lookup:
    """Looks parts up in a catalogue; where it may, one that cannot be had is taken as absent."""

    catalogue: Catalogue
    absent: bool

    def chosen(self, kind: str, choice: Choice) -> Chosen:
        """One part.

        Raises:
            UnknownName: a name or a field that does not exist.
            ConfigError: a value out of range.
        """

        def find() -> tuple[Entry, Any]:
            entry = self._entry(kind, choice)
            return entry, build(entry.offer.config, choice.config, _whose(kind, choice.label))

        return self._found(kind, choice.name, choice.label, find)

    def strata(self, choice: Choice) -> tuple[tuple[Stratum, ...], Choice]:
        """The strata, and the choice with all its values."""
        try:
            alternatives = sweep(self._entry("environment", choice).offer.config, choice.config, "env")
        except GdeError:
            if not self.absent:
                raise
            return (Stratum(labels={}, environment=self.chosen("environment", choice)),), choice
        swept = [name for name, values in alternatives.items() if len(values) > 1]
        strata = []
        for combination in product(*alternatives.values()):
            values = dict(zip(alternatives, combination, strict=True))
            labels = {name: _label(values[name]) for name in swept}
            part = self.chosen("environment", replace(choice, config=values))
            strata.append(Stratum(labels=labels, environment=part))
        config = dump(strata[0].environment.config)
        config.update({name: values for name, values in alternatives.items() if len(values) > 1})
        return tuple(strata), replace(choice, config=config)

    def models(self, parts: list[Chosen], settings: Mapping[str, Json]) -> dict[str, Chosen]:
        """The models that the parts name; the settings are for the first one that the agent names, who comes first."""
        found: dict[str, Chosen] = {}
        if not parts[0].absent:
            check_settings(parts[0].label, parts[0].config, settings)
        for part in parts:
            for field, name in model_names(part.config).items():
                whose = f"{_whose(part.kind, part.label)}.{field}"
                if name not in found:
                    # The first that is looked up is the agent's first, where it names one.
                    find = partial(find_model, name, self.catalogue, settings if not found else {}, whose)
                    found[name] = self._found("language_model", name, name, find)
                if not self.absent:
                    check_task(part.config, field, found[name].entry, whose)
        return found

    def judges(self, parts: Iterable[Chosen], rewards: Sequence[Chosen]) -> dict[str, Chosen]:
        """The reward models that the parts name: those of the run that are called so, else as they are offered."""
        found = {part.label: part for part in rewards}
        names = {name: None for part in parts for name in reward_names(part.config).values()}
        return {name: found.get(name) or self.judge(name) for name in names}

    def judge(self, name: str) -> Chosen:
        """A reward model as it is offered.

        Raises:
            UnknownName: nobody offers it.
            ConfigError: it cannot do without settings.
        """
        try:
            return self.chosen("reward_model", Choice(name=name))
        except ConfigError as error:
            raise settable(error, name) from error

    def _found(self, kind: str, name: str, label: str, find: Callable[[], tuple[Entry, Any]]) -> Chosen:
        try:
            (entry, config), absent = find(), ""
        except GdeError as error:
            if not self.absent:
                raise
            absent = str(error)
            entry = absent_entry(kind, name, absent)
            config = build(entry.offer.config, {}, label)
        return Chosen(kind=kind, name=name, label=label, entry=entry, config=config, absent=absent)

    def _entry(self, kind: str, choice: Choice) -> Entry:
        if choice.part is not None:
            return object_entry(kind, choice)
        if choice.name.startswith(OBJECT):
            what = "is no offer; it is an object of the program that made the run"
            advice = "go on in Python with its plan, resume(RUN, plan=...)"
            raise GdeError(f"{KINDS[kind].title} {choice.name!r} {what}: {advice}")
        return self.catalogue.find(kind, choice.name)


def _whose(kind: str, label: str) -> str:
    """What settings of a part are called: parts that can be several by their own name."""
    return label if KINDS[kind].several else KINDS[kind].table


def _label(value: Json) -> str | int | float | bool:
    """A swept value as a label; no value is "none", as it is written in a setting and as variations are told from."""
    if value is None:
        return "none"
    return value if isinstance(value, str | int | float | bool) else str(value)
