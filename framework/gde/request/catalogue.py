"""Installed plugins, loaded one at a time, and everything that they offer."""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, entry_points
from types import ModuleType
from typing import Any

import pluggy

from gde import hookspecs
from gde.errors import FAULTS, GdeError, UnknownName, is_interruption
from gde.offers import AnyOffer, MetricOffer
from gde.request.kinds import KINDS, Kind

FRAMEWORK = "gde-eval"
"""The distribution whose defaults every run takes."""
GROUP = "gde"
"""The group of entry points that declare plugins."""
DISABLE = "GDE_DISABLE_PLUGINS"
LOAD = "GDE_LOAD_PLUGINS"
OFFERS = {kind.hook: kind.offer for kind in KINDS.values()}
"""The class of the offers that each collecting hook gives."""


@dataclass(frozen=True, kw_only=True)
class PluginRecord:
    """One plugin that was found, whether or not it could be loaded."""

    name: str
    module: str
    distribution: str = ""
    """Name and version of the distribution that declares it; empty for a module named
    in GDE_LOAD_PLUGINS.
    """
    hooks: tuple[str, ...] = ()
    error: str = ""
    """Why it is not in use; empty when it is."""

    @property
    def home(self) -> str:
        """Name of the distribution, or of the module where no distribution has it."""
        return self.distribution.partition(" ")[0] or self.module


@dataclass(frozen=True)
class Plugins:
    """A fresh plugin manager with the records of found plugins.

    Two of them share nothing.
    """

    manager: pluggy.PluginManager
    records: tuple[PluginRecord, ...]
    disabled: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """What `load_plugins` was asked for, so that a worker process can ask for the
    same.
    """

    @property
    def off(self) -> str:
        """The plugins that are not in use, for the end of a message; empty for none."""
        off = list(self.disabled)
        for record in self.records:
            if record.error:
                off.append(f"{record.name} ({record.error})")
        return f" Plugins that are off: {', '.join(off)}." if off else ""


def load_plugins(
    disable: Iterable[str] = (), modules: Iterable[str] = (), *, offers: bool = True
) -> Plugins:
    """Load every declared plugin that is not disabled, then the named modules.

    A plugin that fails stays in the records with its reason. A module that is named
    twice, or is declared too, is loaded once.

    Args:
        disable: names of plugins, beside those in GDE_DISABLE_PLUGINS (with commas in
            between).
        modules: names of modules, beside those in GDE_LOAD_PLUGINS (with commas in
            between).
        offers: whether to ask each plugin for its offers now, so that broken ones are
            found.

    Raises:
        GdeError: a name to disable that no plugin has.
    """
    modules = tuple(modules)
    declared = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)

    # Modules get their own entry points, so that both ways of loading are one.
    known = {entry.value for entry in declared}
    for module in (*_listed(LOAD), *modules):
        if module not in known:
            known.add(module)
            declared.append(EntryPoint(name=module, value=module, group=GROUP))

    disabled = {*disable, *_listed(DISABLE)}
    names = [entry.name for entry in declared]
    unknown = sorted(disabled - set(names))
    if unknown:
        raise GdeError(
            f"cannot disable plugin {unknown[0]!r}: no such plugin. Known: {', '.join(names)}"
        )

    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    records = [
        _load(manager, entry, offers)
        for entry in declared
        if entry.name not in disabled
    ]
    return Plugins(
        manager, tuple(records), disabled=tuple(sorted(disabled)), modules=modules
    )


def _listed(variable: str) -> list[str]:
    """The names in an environment variable, with commas in between."""
    names = os.environ.get(variable, "").split(",")
    return [name.strip() for name in names if name.strip()]


def _load(
    manager: pluggy.PluginManager, entry: EntryPoint, offers: bool
) -> PluginRecord:
    hooks: tuple[str, ...] = ()
    error = ""
    try:
        plugin = import_module(entry.value)
        manager.register(plugin, entry.name)
        manager.check_pending()
        if offers:
            _check_offers(manager, plugin)
        callers = manager.get_hookcallers(plugin) or ()
        hooks = tuple(sorted(caller.name for caller in callers))
    # A plugin may fail in any way; the reason is kept and shown.
    except BaseException as reason:
        if manager.get_plugin(entry.name) is not None:
            manager.unregister(name=entry.name)
        if is_interruption(reason):
            raise KeyboardInterrupt from reason
        lines = f"{type(reason).__name__}: {reason}".splitlines()
        error = lines[0]

    # A module that is named in GDE_LOAD_PLUGINS belongs to no distribution.
    distribution = _title(entry.dist) if entry.dist else ""
    return PluginRecord(
        name=entry.name,
        module=entry.value,
        distribution=distribution,
        hooks=hooks,
        error=error,
    )


@lru_cache(maxsize=64)
def _title(distribution: Distribution) -> str:
    """Name and version of a distribution."""
    # Cached, since the metadata are parsed at every access and one distribution
    # declares many plugins.
    metadata = distribution.metadata
    return f"{metadata['Name']} {metadata['Version']}"


def _check_offers(manager: pluggy.PluginManager, plugin: ModuleType) -> None:
    """Call each offering hook once, so that its errors surface now."""
    for caller in manager.get_hookcallers(plugin) or ():
        wanted = OFFERS.get(caller.name)
        if wanted is None:
            continue
        list_offers = getattr(plugin, caller.name)
        for offer in list_offers():
            if not isinstance(offer, wanted):
                raise TypeError(
                    f"{caller.name} must give a sequence of {wanted.__name__}s, got {offer!r}"
                )


def call_each(
    hook: pluggy.HookCaller, complain: Callable[[str], None], **arguments: object
) -> None:
    """Call an event hook in every plugin; failures go to `complain`.

    A plugin that raises stops no other.
    """
    for implementation in reversed(hook.get_hookimpls()):
        given = {name: arguments[name] for name in implementation.argnames}
        try:
            implementation.function(**given)
        except FAULTS as error:
            complain(
                f"plugin {implementation.plugin_name}: {hook.name} failed: {type(error).__name__}: {error}"
            )


@dataclass(frozen=True)
class Entry:
    """An offer and the plugin that makes it."""

    plugin: str
    module: str
    offer: AnyOffer
    distribution: str = ""
    """Name of the distribution that declares the plugin, or of the module where no
    distribution does.
    """
    place: int = 0
    """Index among the plugin's offers of this kind, in its own order."""

    @property
    def qualified(self) -> str:
        """The name that stays unambiguous whatever else is installed."""
        return f"{self.plugin}:{self.offer.name}"

    @property
    def metric(self) -> MetricOffer[Any, Any]:
        """The offer, of a metric."""
        assert isinstance(self.offer, MetricOffer)
        return self.offer

    @property
    def install(self) -> str:
        """The command that installs the offer's missing packages; empty for none."""
        if not self.offer.missing():
            return ""
        extra = self.offer.extra or "all"
        return f"pip install '{self.distribution}[{extra}]'"


class Catalogue:
    """All offers of the loaded plugins, by kind and name.

    Built once for each request.
    """

    def __init__(self, plugins: Plugins) -> None:
        self.plugins = plugins
        self._entries = {name: _collect(plugins, kind) for name, kind in KINDS.items()}

    @classmethod
    def default(cls) -> "Catalogue":
        """The catalogue of everything installed."""
        return cls(load_plugins())

    def entries(self, kind: str) -> tuple[Entry, ...]:
        """All offers of a kind, sorted by name.

        Raises:
            UnknownName: there is no such kind.
        """
        if kind not in self._entries:
            raise UnknownName("kind of part", kind, self._entries)
        return self._entries[kind]

    def find(self, kind: str, name: str) -> Entry:
        """The one offer with this name, or with this `plugin:name`.

        Raises:
            UnknownName: no plugin offers it; near misses and plugins that are off are named.
            GdeError: several do; their modules and qualified names are named.
        """
        found = [
            entry
            for entry in self.entries(kind)
            if name in {entry.offer.name, entry.qualified}
        ]
        if not found:
            title = KINDS[kind].title
            hint = self.plugins.off
            if {*name.split(",")} <= {*self.names(kind)}:
                hint = f" One run has one {title}: begin a run for each, then `gde compare` them."
            raise UnknownName(title, name, self.names(kind), hint)
        if len(found) > 1:
            modules = " and ".join(entry.module for entry in found)
            choices = " or ".join(entry.qualified for entry in found)
            raise GdeError(f"{kind} {name!r} is offered by {modules}: say {choices}")
        return found[0]

    def find_metric(self, name: str) -> Entry:
        """A metric by its name, by a number it declares, or by that number's prefix.

        Raises:
            UnknownName: there is no such metric.
        """
        known = self.names("metric")
        if name in known:
            return self.find("metric", name)
        for entry in self.entries("metric"):
            if any(measure.matches(name) for measure in entry.metric.measures):
                return entry
        family, _, _ = name.partition(".")
        return self.find("metric", family if family in known else name)

    def members(self, kind: str, name: str) -> tuple[str, ...]:
        """The names of a group's metrics, or the name itself where it is no group."""
        # An empty name is the group of all that have none.
        if not name or name in self.names(kind):
            return (name,)
        offers = [entry.offer for entry in self._entries[kind]]
        found = [
            offer.name
            for offer in offers
            if isinstance(offer, MetricOffer) and offer.group == name
        ]
        return tuple(found) or (name,)

    def names(self, kind: str) -> list[str]:
        """The shortest unambiguous name of each offer."""
        entries = self._entries[kind]
        count = Counter(entry.offer.name for entry in entries)
        return [
            entry.offer.name if count[entry.offer.name] == 1 else entry.qualified
            for entry in entries
        ]


def _collect(plugins: Plugins, kind: Kind) -> tuple[Entry, ...]:
    """The offers of a kind, sorted by name."""
    homes = {record.name: record.home for record in plugins.records}
    found = []
    caller = getattr(plugins.manager.hook, kind.hook)
    for implementation in caller.get_hookimpls():
        plugin = implementation.plugin_name
        module = implementation.function.__module__
        home = homes.get(plugin, "")
        for place, offer in enumerate(implementation.function()):
            found.append(Entry(plugin, module, offer, home, place))
    return tuple(sorted(found, key=lambda entry: (entry.offer.name, entry.plugin)))
