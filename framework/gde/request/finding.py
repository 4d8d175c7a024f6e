"""The parts of a plan among all offers, each with its typed configuration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gde.data.how import How
from gde.data.json import NONE, Json, Labels
from gde.data.plan import Choice
from gde.errors import ConfigError, GdeError
from gde.offers import NoConfig
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS
from gde.request.names import reward_names, without_servers
from gde.request.objects import object_entry
from gde.request.ready import Chosen, setting_of
from gde.request.settings import build_part, combinations, dump_what, how_fields

DEFAULT_HOW = How()


@dataclass(frozen=True)
class Finder:
    """Finds parts in a catalogue."""

    catalogue: Catalogue
    absent: bool = False
    """Whether a stand-in is given for a part that cannot be had here."""
    how: How = DEFAULT_HOW

    def part(self, kind: str, choice: Choice) -> Chosen:
        """One part.

        Raises:
            UnknownName: a name or a field that does not exist.
            ConfigError: a value out of range.
        """
        try:
            entry = self.entry(kind, choice)
            config = self._config(kind, choice, entry)
        except GdeError as error:
            return self.stand_in(kind, choice, error)
        return chosen(kind, choice, entry, config)

    def environments(
        self, choice: Choice
    ) -> tuple[list[tuple[Labels, Chosen]], Choice]:
        """An environment with each combination of the values of a sweep.

        Each comes with the values that vary; the choice that is given back has all.

        Raises:
            GdeError: it does not exist, or a value that a field does not take.
        """
        kind = "environment"
        try:
            entry = self.entry(kind, choice)
            config = entry.offer.config
            swept, each = combinations(config, choice.config, "env")
        except GdeError as error:
            # Of one that is not installed here, the swept fields are unknown.
            return [({}, self.stand_in(kind, choice, error))], choice
        for name in swept.keys() & how_fields(config):
            raise ConfigError(
                f"env.{name} says how a run is done: wanted one value, got several"
            )
        found: list[tuple[Labels, Chosen]] = []
        for values in each:
            one = replace(choice, config=values)
            labels = {name: _label(values[name]) for name in swept}
            config_of_one = self._config(kind, one, entry)
            found.append((labels, chosen(kind, one, entry, config_of_one)))
        # The plan keeps all values of a swept field, and the defaults of the others.
        _, first = found[0]
        return found, replace(choice, config={**first.choice.config, **swept})

    def judges(
        self, parts: Iterable[Chosen], rewards: Sequence[Chosen]
    ) -> dict[str, Chosen]:
        """The named reward models: the run's by label, others as offered."""
        of_run = {part.label: part for part in rewards}
        found: dict[str, Chosen] = {}
        for part in parts:
            for name in reward_names(part.config).values():
                if name not in found:
                    found[name] = of_run.get(name) or self.judge(name)
        return found

    def judge(self, name: str) -> Chosen:
        """A reward model as it is offered.

        Raises:
            UnknownName: nobody offers it.
            ConfigError: it cannot do without settings.
        """
        try:
            return self.part("reward_model", Choice(name=name))
        except ConfigError as error:
            raise settable(error, name) from error

    def stand_in(self, kind: str, choice: Choice, error: GdeError) -> Chosen:
        """A part of a recorded plan that cannot be had here.

        Raises:
            GdeError: no stand-in is wanted.
        """
        if not self.absent:
            raise error
        reason = str(error)
        offer = KINDS[kind].offer(name=choice.name, summary=reason, config=NoConfig)
        entry = Entry(plugin="", module="", offer=offer)
        return Chosen(
            kind=kind, choice=choice, entry=entry, config=NoConfig(), absent=reason
        )

    def entry(self, kind: str, choice: Choice) -> Entry:
        """The offer of a choice.

        Raises:
            UnknownName: nobody offers it.
            GdeError: it is an object that is not here.
        """
        if choice.is_object:
            return object_entry(kind, choice)
        return self.catalogue.find(kind, choice.name)

    def _config(self, kind: str, choice: Choice, entry: Entry) -> Any:
        whose = setting_of(kind, choice.label)
        own = self.how.settings.get(whose, {})
        return build_part(entry.offer.config, choice, own, whose)


def settable(error: GdeError, judge: str) -> ConfigError:
    """The error of a reward model that only another part names, with its remedy."""
    return ConfigError(f"{error}; add the reward model {judge} to set it")


def chosen(kind: str, choice: Choice, entry: Entry, config: Any) -> Chosen:
    """A part with its configuration, of which the addresses of servers are kept apart."""
    bare, servers = without_servers(config)
    complete = replace(choice, config=dump_what(bare))
    return Chosen(kind=kind, choice=complete, entry=entry, config=bare, servers=servers)


def _label(value: Json) -> str | int | float | bool:
    """A swept value as a label."""
    if value is None:
        return NONE
    if isinstance(value, str | int | float | bool):
        return value
    return str(value)
