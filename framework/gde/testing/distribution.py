"""The check of every part that an installed distribution offers."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from gde.data.json import Json
from gde.errors import (
    FAULTS,
    ConfigError,
    GdeError,
    MissingExtra,
    Unavailable,
    UnknownName,
)
from gde.offers import AnyOffer, Capability, MetricOffer, ModelOffer
from gde.parts.environment import Environment
from gde.parts.language_model import WhiteBox
from gde.request.catalogue import GROUP, Catalogue, Entry, PluginRecord
from gde.request.kinds import KINDS
from gde.request.ready import implied
from gde.request.settings import build
from gde.stages.progress import Progress, Watch, ignore
from gde.testing import plugin as kit
from gde.testing.agent import check_agent
from gde.testing.context import PlainContext
from gde.testing.environment import check_environment
from gde.testing.executor import check_executor
from gde.testing.language_model import check_language_model, check_served
from gde.testing.metric import check_facts, check_metric
from gde.testing.plugins import check_plugin
from gde.testing.probe import check_probe
from gde.testing.reader import check_reader
from gde.testing.reporter import check_reporter
from gde.testing.reproduction import check_reproduction
from gde.testing.reward_model import (
    check_reward_model,
    check_truth_reader,
    is_causal,
)
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
LARGE = 10_000_000
"""Bytes of files of which no damaged copies are tried."""
DAMAGED = 30
"""Copies that are tried."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The outcome of one check."""

    kind: str
    """A key of `KINDS`, or "plugin" for a module with its hooks and offers."""
    name: str
    status: Status
    reason: str = ""
    """The broken promise, why nothing was checked, or what a user should know of a part
    that keeps its promises; one line.
    """
    seconds: float


class CannotBeMade(GdeError):
    """A part cannot be made here, because something outside of it is missing."""


def check_distribution(
    name: str,
    catalogue: Catalogue,
    settings: Settings | None = None,
    watch: Watch = ignore,
) -> Iterator[Checked]:
    """Check every plugin of a distribution, then each of their parts with its defaults.

    Args:
        name: the distribution, or a module that GDE_LOAD_PLUGINS names.
        catalogue: the installed parts.
        settings: settings of parts, e.g. fields without a default, or values that make
            a check quick.
        watch: is told before each check which it is.

    Raises:
        GdeError: nothing of this name registers a plugin, or the part or field is
            unknown.
        ConfigError: a field does not take the value.
    """
    settings = settings or {}
    records = _records(name, catalogue)
    plugins = {record.name for record in records}
    checks: list[tuple[str, str, Callable[[], str]]] = []
    for record in records:
        checks.append(("plugin", record.name, partial(_check_module, record)))

    offers: dict[str, AnyOffer] = {}
    for kind in KINDS:
        for entry in catalogue.entries(kind):
            if entry.plugin in plugins:
                part = entry.offer.name
                offers[part] = entry.offer
                given = settings.get(part, {})
                of_part = partial(_check_entry, kind, entry, given, catalogue)
                checks.append((kind, part, of_part))
    UnknownName.check("part of --set", settings, offers)
    for part, given in settings.items():
        build(offers[part].config, given, part)

    for done, (kind, part, check) in enumerate(checks):
        what = f"{kind.replace('_', ' ')} {part}"
        watch(Progress("checks", done, len(checks), what))
        yield _checked(kind, part, check)


def check_part(
    kind: str,
    entry: Entry,
    config: object,
    folder: Path,
    catalogue: Catalogue,
) -> str:
    """Check one part.

    Args:
        kind: a key of `KINDS`.
        entry: its offer.
        config: its configuration.
        folder: an empty folder to work in.
        catalogue: the installed parts, among them a world for an agent.

    Returns:
        What a user should know of the part; empty in most cases.

    Raises:
        AssertionError: a promise is broken.
        GdeError: the part cannot be made here.
    """
    offer = entry.offer

    def make() -> Any:
        try:
            return offer.made(config, PlainContext())
        except GdeError as error:
            raise CannotBeMade(str(error)) from error

    if kind == "environment":
        check_environment(make, actions=FREE_TEXT, gives=offer.gives)
        return _check_files(offer, config)
    if kind == "agent":
        check_agent(make, environment=_world_for(entry, config, catalogue))
    elif kind == "language_model":
        _check_model(make, offer)
    elif kind == "reporter":
        check_reporter(make, folder)
    elif kind == "reward_model":
        return _check_rewards(make, offer)
    elif isinstance(offer, MetricOffer):
        check_metric(make)
        check_facts(make(), offer.facts)
    else:
        OTHERS[kind](make)
    return ""


def _check_files(offer: AnyOffer, config: Any) -> str:
    """Check what an environment makes of damaged copies of its files."""
    for field in fields(config):
        given = getattr(config, field.name)
        if not isinstance(given, Path):
            continue
        if sum(path.stat().st_size for path in (given, *given.rglob("*"))) > LARGE:
            return f"{field.name} is too large to try damage: set a smaller one"

        def begin(path: Path, name: str = field.name) -> None:
            made = offer.made(replace(config, **{name: path}), PlainContext())
            made.reset(0)
            made.close()

        check_reader(begin, given, n=DAMAGED)
    return ""


def _check_model(make: Callable[[], Any], offer: AnyOffer) -> None:
    model = make()
    model.close()
    if isinstance(offer, ModelOffer) and offer.served:
        check_served(make)
    if isinstance(model, WhiteBox):
        check_white_box(make)
    else:
        check_language_model(make)


def _check_rewards(make: Callable[[], Any], offer: AnyOffer) -> str:
    if Capability.TRUE_REWARD in offer.needs:
        check_truth_reader(make)
        return "reads the truth, as its offer declares"
    check_reward_model(make)
    return "" if is_causal(make) else "not causal: later steps change earlier rewards"


OTHERS: Mapping[str, Callable[[Callable[[], Any]], None]] = {
    "probe": check_probe,
    "executor": check_executor,
    "reproduction": check_reproduction,
}
"""Checks that need only the part."""


def _world_for(
    agent: Entry, config: object, catalogue: Catalogue
) -> Callable[[], Environment]:
    """An environment that gives what the agent needs.

    The first is of the agent's own plugin, then of the kit, then any.

    Raises:
        CannotBeMade: there is none.
    """
    needed = (agent.offer.needs | agent.offer.needs_for(config)) - NOT_OF_WORLDS
    installed = catalogue.entries("environment")
    own = [each.offer for each in installed if each.plugin == agent.plugin]
    others = [each.offer for each in installed]
    for offer in (*own, *kit.gde_environments(), *others):
        if needed <= implied(offer.gives) and not offer.missing():
            with suppress(CannotBeMade):
                return partial(offer.made, _config(offer, {}), PlainContext())
    raise CannotBeMade(f"no environment here gives {', '.join(sorted(needed))}")


def _records(name: str, catalogue: Catalogue) -> list[PluginRecord]:
    homes = defaultdict(list)
    for record in catalogue.plugins.records:
        homes[record.home].append(record)
    for home, records in homes.items():
        if _normal(home) == _normal(name):
            return records

    # An empty name is a ValueError.
    with suppress(PackageNotFoundError, ValueError):
        distribution(name)
        raise GdeError(
            f"{name} is installed and registers no plugin: wanted entry points of the group {GROUP!r}"
        )
    if Path(name).is_dir():
        raise GdeError(
            f"{name} is a folder: wanted a plan file or a distribution; `gde doctor {name}` verifies a run"
        )
    raise UnknownName("distribution with plugins, or plan file,", name, homes)


def _normal(name: str) -> str:
    """The name as distributions are compared."""
    return name.lower().replace("_", "-").replace(".", "-")


def _check_module(record: PluginRecord) -> str:
    if record.error:
        raise ImportError(f"{record.module} cannot be used, {record.error}")
    check_plugin(import_module(record.module))
    return ""


def _check_entry(
    kind: str, entry: Entry, given: Mapping[str, Json], catalogue: Catalogue
) -> str:
    missing = entry.offer.missing()
    if missing:
        raise CannotBeMade(f"without {', '.join(missing)}: {entry.install}")
    config = _config(entry.offer, given)
    with TemporaryDirectory(prefix="gde-check-") as folder:
        return check_part(kind, entry, config, Path(folder), catalogue)


def _config(offer: AnyOffer, given: Mapping[str, Json]) -> Any:
    """The part's configuration.

    Raises:
        CannotBeMade: a field has no default and is not given.
    """
    try:
        return build(offer.config, given, offer.name)
    except ConfigError as error:
        raise CannotBeMade(str(error)) from error


def _checked(kind: str, name: str, check: Callable[[], str]) -> Checked:
    began = time.monotonic()
    status: Status = "kept"
    try:
        reason = check()
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
