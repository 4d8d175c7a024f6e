"""Everything that the loaded plugins offer, by kind and name."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from gde.errors import GdeError, UnknownName
from gde.offers import AnyOffer
from gde.request.plugins import Plugins, load_plugins

Kind = Literal[
    "environment",
    "agent",
    "language_model",
    "probe",
    "reward_model",
    "metric",
    "executor",
    "reporter",
    "reproduction",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True)
class Entry:
    """An offer and the plugin that makes it."""

    plugin: str
    module: str
    offer: AnyOffer

    @property
    def qualified(self) -> str:
        """The name that stays unambiguous whatever else is installed."""
        return f"{self.plugin}:{self.offer.name}"


class Catalogue:
    """Looks names up. Built once per request from the plugins; holds nothing else."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self._entries: Mapping[Kind, tuple[Entry, ...]] = {kind: tuple(_collect(plugins, kind)) for kind in KINDS}

    @classmethod
    def default(cls) -> "Catalogue":
        """The catalogue of everything installed."""
        return cls(load_plugins())

    def entries(self, kind: Kind) -> tuple[Entry, ...]:
        """All offers of a kind, sorted by name."""
        return self._entries[kind]

    def find(self, kind: Kind, name: str) -> Entry:
        """The one offer with this name, or with this `plugin:name`.

        Raises:
            UnknownName: no plugin offers it; near misses and broken plugins are named.
            GdeError: several do; their modules and qualified names are named.
        """
        found = [entry for entry in self._entries[kind] if name in {entry.offer.name, entry.qualified}]
        if not found:
            raise UnknownName(kind.replace("_", " "), name, self.names(kind), self._hint())
        if len(found) > 1:
            modules = " and ".join(entry.module for entry in found)
            choices = " or ".join(entry.qualified for entry in found)
            raise GdeError(f"{kind} {name!r} is offered by {modules}: say {choices}")
        return found[0]

    def names(self, kind: Kind) -> list[str]:
        """Shortest unambiguous name of each offer."""
        by_name: dict[str, list[Entry]] = defaultdict(list)
        for entry in self._entries[kind]:
            by_name[entry.offer.name].append(entry)
        return [
            entry.offer.name if len(group) == 1 else entry.qualified for group in by_name.values() for entry in group
        ]

    def _hint(self) -> str:
        broken = self.plugins.broken
        listed = "; ".join(f"{record.name} ({record.error})" for record in broken)
        return f" Plugins that could not be loaded: {listed}." if broken else ""


HOOKS: Mapping[Kind, str] = {kind: f"gde_{kind}s" for kind in KINDS}


def _collect(plugins: Plugins, kind: Kind) -> Iterator[Entry]:
    caller = getattr(plugins.manager.hook, HOOKS[kind])
    found = [
        Entry(implementation.plugin_name, implementation.function.__module__, offer)
        for implementation in caller.get_hookimpls()
        for offer in implementation.function()
    ]
    yield from sorted(found, key=lambda entry: (entry.offer.name, entry.plugin))
