"""Finding plugins: one entry point at a time, so that a broken one is a line in a list and not a crash."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.metadata import Distribution, EntryPoint, entry_points
from types import ModuleType

import pluggy

from gde import hookspecs
from gde.errors import FAULTS, GdeError
from gde.request.kinds import KINDS

GROUP = "gde"
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
    """Name and version of the distribution that declares it; empty for a module named in GDE_LOAD_PLUGINS."""
    hooks: tuple[str, ...] = ()
    error: str = ""
    """Why it is not in use; empty when it is."""


@dataclass(frozen=True)
class Plugins:
    """A fresh plugin manager with the record of what was found. Nothing is shared between two of them."""

    manager: pluggy.PluginManager
    records: tuple[PluginRecord, ...]
    disabled: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    """What `load_plugins` was asked for, so that a worker process can ask for the same."""

    @property
    def broken(self) -> tuple[PluginRecord, ...]:
        """The plugins that could not be loaded."""
        return tuple(record for record in self.records if record.error)


def load_plugins(disable: Iterable[str] = (), modules: Iterable[str] = (), *, offers: bool = True) -> Plugins:
    """Load every declared plugin that is not disabled, then the named modules.

    `disable` and `modules` add to the comma-separated names in GDE_DISABLE_PLUGINS and GDE_LOAD_PLUGINS. A module that
    is named twice, or declared besides, is loaded once. Without `offers` nobody wants to know yet what is offered, and
    a plugin whose offers are broken is not found out.

    Raises:
        GdeError: a name to disable that no plugin has.
    """
    modules = tuple(modules)
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    declared = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    known = {entry.value for entry in declared}
    named = [module for module in dict.fromkeys((*_names(LOAD), *modules)) if module not in known]
    extra = [EntryPoint(name=module, value=module, group=GROUP) for module in named]
    disabled = {*disable, *_names(DISABLE)}
    _check_disabled(disabled, [entry.name for entry in (*declared, *extra)])
    records = [_load(manager, entry, offers) for entry in (*declared, *extra) if entry.name not in disabled]
    return Plugins(manager, tuple(records), disabled=tuple(sorted(disabled)), modules=tuple(modules))


def _names(variable: str) -> list[str]:
    return [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]


def _check_disabled(disabled: set[str], known: Sequence[str]) -> None:
    if unknown := sorted(disabled - set(known)):
        raise GdeError(f"cannot disable plugin {unknown[0]!r}: no such plugin. Known: {', '.join(known)}")


@lru_cache(maxsize=64)
def _title(distribution: Distribution) -> str:
    """Name and version, which one distribution has for all its plugins: its metadata are parsed at every look."""
    metadata = distribution.metadata
    return f"{metadata['Name']} {metadata['Version']}"


def _load(manager: pluggy.PluginManager, entry: EntryPoint, offers: bool) -> PluginRecord:
    distribution = _title(entry.dist) if entry.dist else ""
    error = ""
    hooks: tuple[str, ...] = ()
    try:
        hooks = _register(manager, import_module(entry.value), entry.name, offers)
    except KeyboardInterrupt:
        raise
    except BaseException as reason:  # a plugin may fail in any way; the reason is kept and shown
        error = f"{type(reason).__name__}: {reason}".splitlines()[0]
    return PluginRecord(name=entry.name, module=entry.value, distribution=distribution, hooks=hooks, error=error)


def _check_offers(manager: pluggy.PluginManager, plugin: ModuleType) -> None:
    """Call each offering hook of the plugin once: what it raises now, it cannot raise in the middle of a command."""
    for caller in manager.get_hookcallers(plugin) or ():
        if caller.spec is not None and not caller.spec.argnames:
            wanted = OFFERS[caller.name]
            offers = getattr(plugin, caller.name)()
            for offer in offers:
                if not isinstance(offer, wanted):
                    raise TypeError(f"{caller.name} must give a sequence of {wanted.__name__}s, got {offer!r}")


def call_each(hook: pluggy.HookCaller, complain: Callable[[str], None], **arguments: object) -> None:
    """Call an event hook plugin by plugin: one that raises is complained of, and the others are called all the same."""
    for implementation in reversed(hook.get_hookimpls()):
        given = {name: arguments[name] for name in implementation.argnames}
        try:
            implementation.function(**given)
        except FAULTS as error:
            complain(f"plugin {implementation.plugin_name}: {hook.name} failed: {type(error).__name__}: {error}")


def _register(manager: pluggy.PluginManager, plugin: ModuleType, name: str, offers: bool) -> tuple[str, ...]:
    try:
        manager.register(plugin, name)
        manager.check_pending()
        if offers:
            _check_offers(manager, plugin)
    except BaseException:
        if manager.get_plugin(name) is not None:
            manager.unregister(name=name)
        raise
    return tuple(sorted(caller.name for caller in manager.get_hookcallers(plugin) or ()))
