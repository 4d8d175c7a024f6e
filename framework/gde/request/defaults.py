"""Groups of parts, and the parts of a run that asks for none of a kind."""

from dataclasses import replace
from typing import Any

from gde.data.plan import Choice
from gde.errors import ConfigError
from gde.offers import MetricOffer
from gde.request.catalogue import Catalogue
from gde.request.finding import Finder
from gde.request.kinds import KINDS, Kind
from gde.request.ready import Chosen, Ready

FRAMEWORK = "gde-eval"
"""The distribution whose defaults every run takes."""


def with_members(
    choices: tuple[Choice, ...], kind: Kind, catalogue: Catalogue
) -> tuple[Choice, ...]:
    """The choices, with a group's members in the place of its name."""
    by_name = {choice.name for choice in choices}
    found: list[Choice] = []
    for choice in choices:
        names: tuple[str, ...] = (choice.name,)
        if choice.part is None:
            names = catalogue.members(kind.name, choice.name)
        if names == (choice.name,):
            found.append(choice)
        elif choice.config or choice.alias:
            listed = ", ".join(names)
            raise ConfigError(
                f"{kind.title} {choice.label!r}: a group is neither renamed nor set; name its members {listed}"
            )
        else:
            # A member that is also named by itself keeps the settings that it has
            # there.
            found += [Choice(name=name) for name in names if name not in by_name]
    return tuple(found)


def with_defaults(ready: Ready, kind: Kind, find: Finder) -> Ready:
    """The plan with the usable default parts of a kind.

    Their needs are met and their packages are installed.
    """
    # Only distributions that the plan takes parts from: what else is installed changes
    # no run.
    homes = {FRAMEWORK, *(part.entry.distribution for part in ready.parts)}

    known = ready.catalogue.names(kind.name)
    asked = []
    for entry in ready.catalogue.entries(kind.name):
        offer = entry.offer
        wanted = offer.default and entry.distribution in homes
        if not wanted or offer.needs - ready.gives or offer.missing():
            continue
        # If two plugins offer the name, the part is asked for in full and bears the
        # short name.
        if offer.name in known:
            asked.append(Choice(name=offer.name))
        else:
            asked.append(Choice(name=entry.qualified, alias=offer.name))
    chosen = tuple(find.part(kind.name, choice) for choice in asked)
    return _replaced(ready, kind, chosen)


def without_misfits(ready: Ready, asked: tuple[Choice, ...]) -> Ready:
    """The plan without those metrics of a group that do not fit the run."""
    by_name = {choice.name for choice in asked}
    members = []
    misfits = []
    for part in ready.metrics:
        offer = part.entry.offer
        in_group = isinstance(offer, MetricOffer) and offer.group in by_name
        if not in_group or part.name in by_name:
            continue
        members.append(part)
        if part.needs - ready.gives or offer.missing():
            misfits.append(part)

    # Where nothing of a group fits, all of it stays, so that `check` says why.
    if not misfits or len(misfits) == len(members):
        return ready
    kept = tuple(part for part in ready.metrics if part not in misfits)
    return _replaced(ready, KINDS["metric"], kept)


def _replaced(ready: Ready, kind: Kind, chosen: tuple[Chosen, ...]) -> Ready:
    """The plan with other parts of a kind."""
    parts: dict[str, Any] = {kind.field: chosen}
    fields: dict[str, Any] = {kind.field: tuple(part.choice for part in chosen)}
    if kind.how:
        return replace(ready, how=replace(ready.how, **fields), **parts)
    return replace(ready, plan=replace(ready.plan, **fields), **parts)
