"""Everything that the loaded plugins offer, by kind and name."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gde.errors import GdeError, UnknownName
from gde.offers import AnyOffer, MetricOffer
from gde.request.kinds import KINDS, Kind
from gde.request.plugins import Plugins, load_plugins


@dataclass(frozen=True)
class Entry:
    """An offer and the plugin that makes it."""

    plugin: str
    module: str
    offer: AnyOffer
    distribution: str = ""
    """Name of the distribution that declares the plugin; that of the module for one that no distribution declares."""
    place: int = 0
    """Among the plugin's offers of this kind, in its own order."""

    @property
    def qualified(self) -> str:
        """The name that stays unambiguous whatever else is installed."""
        return f"{self.plugin}:{self.offer.name}"

    @property
    def install(self) -> str:
        """What installs the packages that the offer lacks; empty where it lacks none."""
        lacking = self.offer.missing()
        return f"pip install '{self.distribution}[{self.offer.extra or 'all'}]'" if lacking else ""


class Catalogue:
    """Looks names up. Built once per request from the plugins; holds nothing else."""

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self._entries: Mapping[str, tuple[Entry, ...]] = {
            kind.name: tuple(_collect(plugins, kind)) for kind in KINDS.values()
        }

    @classmethod
    def default(cls) -> "Catalogue":
        """The catalogue of everything installed."""
        return cls(load_plugins())

    def entries(self, kind: str) -> tuple[Entry, ...]:
        """All offers of a kind, sorted by name."""
        return self._entries[kind]

    def find(self, kind: str, name: str) -> Entry:
        """The one offer with this name, or with this `plugin:name`.

        Raises:
            UnknownName: no plugin offers it; near misses and broken plugins are named.
            GdeError: several do; their modules and qualified names are named.
        """
        found = [entry for entry in self._entries[kind] if name in {entry.offer.name, entry.qualified}]
        if not found:
            raise UnknownName(KINDS[kind].title, name, self.names(kind), self._hint())
        if len(found) > 1:
            modules = " and ".join(entry.module for entry in found)
            choices = " or ".join(entry.qualified for entry in found)
            raise GdeError(f"{kind} {name!r} is offered by {modules}: say {choices}")
        return found[0]

    def named(self, kind: str, name: str) -> tuple[str, ...]:
        """The names that a name stands for: of the offers of a group, or itself."""
        if not name or name in self.names(kind):  # the group of what has none is no group
            return (name,)
        group = tuple(entry.offer.name for entry in self._entries[kind] if _group(entry.offer) == name)
        return group or (name,)

    def names(self, kind: str) -> list[str]:
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


def _group(offer: AnyOffer) -> str:
    return offer.group if isinstance(offer, MetricOffer) else ""


def _collect(plugins: Plugins, kind: Kind) -> Iterator[Entry]:
    caller = getattr(plugins.manager.hook, kind.hook)
    homes = {record.name: record.distribution.partition(" ")[0] or record.module for record in plugins.records}
    found = [
        Entry(
            implementation.plugin_name,
            implementation.function.__module__,
            offer,
            homes.get(implementation.plugin_name, ""),
            place,
        )
        for implementation in caller.get_hookimpls()
        for place, offer in enumerate(implementation.function())
    ]
    yield from sorted(found, key=lambda entry: (entry.offer.name, entry.plugin))
