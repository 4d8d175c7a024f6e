"""The check of every part that an installed distribution offers."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from gde.data.json import Json
from gde.errors import FAULTS, GdeError, MissingExtra, Unavailable, UnknownName
from gde.offers import AnyOffer, Capability
from gde.parts.environment import Environment
from gde.parts.language_model import WhiteBox
from gde.request.catalogue import GROUP, Catalogue, Entry, PluginRecord
from gde.request.kinds import KINDS
from gde.request.resolve import implied
from gde.request.settings import build
from gde.testing import plugin as kit
from gde.testing.agent import check_agent
from gde.testing.context import PlainContext
from gde.testing.environment import check_environment
from gde.testing.executor import check_executor
from gde.testing.language_model import check_language_model
from gde.testing.metric import check_metric
from gde.testing.plugins import check_plugin
from gde.testing.probe import check_probe
from gde.testing.reporter import check_reporter
from gde.testing.reproduction import check_reproduction
from gde.testing.reward_model import check_reward_model
from gde.testing.white_box import check_white_box

Settings = Mapping[str, Mapping[str, Json]]
"""Offer to the fields that replace its defaults."""
Status = Literal["kept", "broken", "unchecked"]
NOT_OF_WORLDS = frozenset(
    {
        Capability.ACTIVATIONS,
        Capability.ACTION_PROBS,
        Capability.INTERVENTIONS,
        Capability.REWARD_TRACE,
    }
)
"""What agents need from other parts than the environment. The kit's model gives it."""
FREE_TEXT = ("an answer",)
"""The action tried where an environment lists none."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The outcome of one check."""

    kind: str
    """A key of `KINDS`, or "plugin" for a module with its hooks and offers."""
    name: str
    status: Status
    reason: str = ""
    """The broken promise, or why nothing was checked; one line."""
    seconds: float


class CannotBeMade(GdeError):
    """A part cannot be made here, because something outside of it is missing."""


def check_distribution(
    name: str,
    catalogue: Catalogue,
    settings: Settings | None = None,
    world: str = "",
    begun: Callable[[str], None] = lambda _: None,
) -> Iterator[Checked]:
    """Check every plugin of a distribution, then each of their parts with its defaults.

    Args:
        name: the distribution, or a module that GDE_LOAD_PLUGINS names. catalogue: the
        installed parts. settings: settings of parts, e.g. fields without a default, or
        values that make a check quick. world: the environment in which agents are
        checked. By default a suitable one of their own plugin, else of the
            kit, else any that is installed.
        begun: called with what is checked now, e.g. "environment grid".

    Raises:
        GdeError: nothing of this name registers a plugin, or the world, part or field
        is unknown. ConfigError: a field does not take the value.
    """
    settings = settings or {}
    records = _records(name, catalogue)
    plugins = {record.name for record in records}
    entries: list[tuple[str, Entry]] = []
    for kind in KINDS:
        entries += [
            (kind, each) for each in catalogue.entries(kind) if each.plugin in plugins
        ]

    offers = {entry.offer.name: entry.offer for _, entry in entries}
    for part, given in settings.items():
        if part not in offers:
            raise UnknownName("part of --set", part, offers)
        build(offers[part].config, given, part)

    worlds = Worlds(
        catalogue, catalogue.find("environment", world).offer if world else None
    )
    return _check_all(records, entries, worlds, settings, begun)


@dataclass(frozen=True)
class Worlds:
    """The environments in which agents are checked."""

    catalogue: Catalogue
    asked: AnyOffer | None = None
    """The one that the user named."""

    def of(self, agent: Entry, config: object) -> Callable[[], Environment]:
        """An environment that gives what the agent needs: of its own plugin, else of
        the kit, else any.

        Raises:
            CannotBeMade: there is none.
        """
        needed = (agent.offer.needs | agent.offer.needs_for(config)) - NOT_OF_WORLDS
        candidates = [self.asked] if self.asked else self._known(agent.plugin)
        for world in candidates:
            if needed <= implied(world.gives) and not world.missing():
                with suppress(CannotBeMade):
                    return partial(world.make, _config(world, {}), PlainContext())
        where = (
            f"environment {self.asked.name!r} does not give"
            if self.asked
            else "no environment here gives"
        )
        raise CannotBeMade(f"{where} {', '.join(sorted(needed))}")

    def _known(self, plugin: str) -> list[AnyOffer]:
        installed = self.catalogue.entries("environment")
        own = [each.offer for each in installed if each.plugin == plugin]
        return [*own, *kit.gde_environments(), *(each.offer for each in installed)]


def check_part(
    kind: str, entry: Entry, config: object, folder: Path, worlds: Worlds
) -> None:
    """Check one part.

    Args:
        kind: a key of `KINDS`.
        entry: its offer.
        config: its configuration.
        folder: an empty folder to work in.
        worlds: the environments for an agent.

    Raises:
        AssertionError: a promise is broken.
        GdeError: the part cannot be made here.
    """
    offer = entry.offer

    def make() -> Any:
        try:
            return offer.make(config, PlainContext())
        except GdeError as error:
            raise CannotBeMade(str(error)) from error

    if kind == "environment":
        check_environment(make, actions=FREE_TEXT, gives=offer.gives)
    elif kind == "agent":
        check_agent(make, environment=worlds.of(entry, config))
    elif kind == "language_model":
        model = make()
        model.close()
        if isinstance(model, WhiteBox):
            check_white_box(make)
        else:
            check_language_model(make)
    elif kind == "reporter":
        check_reporter(make, folder)
    else:
        ALIKE[kind](make)


ALIKE: Mapping[str, Callable[[Callable[[], Any]], None]] = {
    "probe": check_probe,
    "reward_model": check_reward_model,
    "metric": check_metric,
    "executor": check_executor,
    "reproduction": check_reproduction,
}
"""Checks that need only the part."""


def _records(name: str, catalogue: Catalogue) -> list[PluginRecord]:
    records = catalogue.plugins.records
    found = [each for each in records if _normal(_home(each)) == _normal(name)]
    if not found and _is_installed(name):
        raise GdeError(
            f"{name} is installed and registers no plugin: wanted entry points of the group {GROUP!r}"
        )
    if not found and Path(name).is_dir():
        raise GdeError(
            f"{name} is a folder: wanted a plan file or a distribution; `gde doctor {name}` verifies a run"
        )
    if not found:
        raise UnknownName(
            "distribution with plugins, or plan file,",
            name,
            {_home(each) for each in records},
        )
    return found


def _is_installed(name: str) -> bool:
    try:
        return bool(distribution(name))
    except (PackageNotFoundError, ValueError):
        # An empty name is a ValueError.
        return False


def _home(record: PluginRecord) -> str:
    return record.distribution.partition(" ")[0] or record.module


def _normal(name: str) -> str:
    """The name as distributions are compared: case, and hyphens, underscores and dots
    are equal.
    """
    return name.lower().replace("_", "-").replace(".", "-")


def _check_all(
    records: Sequence[PluginRecord],
    entries: Sequence[tuple[str, Entry]],
    worlds: Worlds,
    settings: Settings,
    begun: Callable[[str], None],
) -> Iterator[Checked]:
    for record in records:
        begun(f"plugin {record.name}")
        yield _checked("plugin", record.name, partial(_check_module, record))
    for kind, entry in entries:
        given = settings.get(entry.offer.name, {})
        begun(f"{kind.replace('_', ' ')} {entry.offer.name}")
        yield _checked(
            kind, entry.offer.name, partial(_check_entry, kind, entry, given, worlds)
        )


def _check_module(record: PluginRecord) -> None:
    if record.error:
        raise ImportError(f"{record.module} cannot be used, {record.error}")
    check_plugin(import_module(record.module))


def _check_entry(
    kind: str, entry: Entry, given: Mapping[str, Json], worlds: Worlds
) -> None:
    missing = entry.offer.missing()
    if missing:
        raise CannotBeMade(f"without {', '.join(missing)}: {entry.install}")
    with TemporaryDirectory(prefix="gde-check-") as folder:
        check_part(kind, entry, _config(entry.offer, given), Path(folder), worlds)


def _config(offer: AnyOffer, given: Mapping[str, Json]) -> Any:
    """The part's configuration.

    Raises:
        CannotBeMade: a field has no default and is not given.
    """
    for field in fields(offer.config):
        if (
            field.default is MISSING
            and field.default_factory is MISSING
            and field.name not in given
        ):
            raise CannotBeMade(
                f"{field.name} has no default: --set {offer.name}.{field.name}=VALUE"
            )
    return build(offer.config, given, offer.name)


def _checked(kind: str, name: str, check: Callable[[], None]) -> Checked:
    began = time.monotonic()
    status: Status = "kept"
    reason = ""
    try:
        check()
    except (CannotBeMade, MissingExtra, Unavailable) as error:
        status = "unchecked"
        reason = str(error)
    except AssertionError as error:
        status = "broken"
        reason = str(error) or "an assertion of its own fails"
    except FAULTS as error:
        # A part may fail in any way. The check goes on with the others.
        status = "broken"
        reason = f"{type(error).__name__}: {error}"
    took = time.monotonic() - began
    return Checked(
        kind=kind,
        name=name,
        status=status,
        reason=" ".join(reason.split()),
        seconds=round(took, 2),
    )
