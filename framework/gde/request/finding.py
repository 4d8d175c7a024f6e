"""The parts of a plan among all offers, each with its typed configuration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gde.data.how import How
from gde.data.plan import OBJECT, Choice
from gde.errors import ConfigError, GdeError
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS, MODEL
from gde.request.names import (
    check_task,
    find_model,
    how_asked,
    model_names,
    models_by_name,
    reward_names,
)
from gde.request.objects import object_entry
from gde.request.ready import Chosen, first_model, setting_of
from gde.request.settings import build_part, dump_what

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

        def find() -> tuple[Entry, Any]:
            entry = self.entry(kind, choice)
            whose = setting_of(kind, choice.label)
            own = self.how.settings.get(whose, {})
            config = build_part(entry.offer.config, choice, own, whose)
            return entry, config

        return self._found(kind, choice, find)

    def models(
        self, parts: Sequence[Chosen], configured: Sequence[Choice]
    ) -> dict[str, Chosen]:
        """The language models that the parts name, by name.

        Args:
            parts: the agent first.
            configured: the models of the plan. Those that no part names are left out.
        """
        agent = parts[0]
        own = first_model(agent)
        if agent.absent:
            configured = [choice for choice in configured if choice.name]
        known = models_by_name(configured, agent.label, own)
        found: dict[str, Chosen] = {}
        for part in parts:
            for named, name in model_names(part.config).items():
                whose = f"{part.whose}.{named}"
                if name not in found:
                    choice = known.get(name, Choice(name=name))
                    asked = how_asked(choice, own, self.how, self.catalogue)
                    find = partial(find_model, choice, self.catalogue, whose, asked)
                    found[name] = self._found(MODEL.name, choice, find)
                if not self.absent:
                    check_task(part.config, named, found[name].entry, whose)
        return found

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

    def _found(
        self, kind: str, choice: Choice, find: Callable[[], tuple[Entry, Any]]
    ) -> Chosen:
        try:
            entry, config = find()
        except GdeError as error:
            if not self.absent:
                raise
            return Chosen.stand_in(kind, choice, str(error))
        complete = replace(choice, config=dump_what(config))
        return Chosen(kind=kind, choice=complete, entry=entry, config=config)

    def entry(self, kind: str, choice: Choice) -> Entry:
        """The offer of a choice.

        Raises:
            UnknownName: nobody offers it. GdeError: it is an object that is not here.
        """
        if choice.part is not None:
            return object_entry(kind, choice)
        if choice.name.startswith(OBJECT):
            what = "is not an offer but an object of the program that made the run"
            advice = "resume in Python with it: gde.resume(RUN, plan=..., how=...)"
            raise GdeError(f"{KINDS[kind].title} {choice.name!r} {what}: {advice}")
        return self.catalogue.find(kind, choice.name)


def settable(error: GdeError, judge: str) -> ConfigError:
    """The error of a reward model that only another part names, with its remedy."""
    return ConfigError(f"{error}; add --reward {judge} to set it")
