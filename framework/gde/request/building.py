"""A plan from names and settings, as they are written on a command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.kinds import KINDS, SEVERAL, SINGLE
from gde.request.planfile import configure_run, listed_agents, read_plan
from gde.request.settings import parse_settings

Names = Mapping[str, Sequence[str]]
"""Names of parts by the table of their kind, e.g. {"env": ["grid"], "probe": ["cogmap", "deep=cogmap"]}."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What somebody asks for."""

    names: Names
    settings: Sequence[str] = ()
    """PART.FIELD=VALUE each."""
    numbers: Mapping[str, Json] = field(default_factory=dict)
    """Fields of the run; None where nothing is said."""
    file: Path | None = None
    """A plan, which all others override."""
    listed: int | None = None
    """Which of the plan's agents, where it lists several."""


def build_plan(wanted: Wanted) -> Plan:
    """The plan that is asked for.

    Raises:
        ConfigError: no environment or no agent, or a setting that cannot be read.
        UnknownName: a setting of a part that the plan does not have.
    """
    return _with_settings(_with_names(wanted), wanted)


def choose(name: str) -> Choice:
    """`"cogmap"`, or `"deep=cogmap"` for a part that the run is to call otherwise."""
    alias, equals, offer = name.partition("=")
    return Choice(name=offer, alias=alias) if equals else Choice(name=name)


def _with_names(wanted: Wanted) -> Plan:
    chosen: dict[str, Any] = {}
    for kind in SINGLE:
        if names := wanted.names.get(kind.table):
            chosen[kind.field] = choose(names[0])
    for kind in SEVERAL:
        if names := wanted.names.get(kind.table):
            chosen[kind.field] = tuple(map(choose, names))
    if wanted.file is not None:
        changed = {"language_model": {}, **chosen} if "agent" in chosen else chosen
        return replace(read_plan(wanted.file, _agent(wanted)), **changed)
    for kind in (KINDS["environment"], KINDS["agent"]):
        if kind.field not in chosen:
            listed = f"`gde list {kind.name}s` shows what there is"
            raise ConfigError(f"wanted --{kind.table} NAME (or --plan FILE), got none; {listed}")
    return Plan(**chosen)


def _agent(wanted: Wanted) -> int | None:
    """Of a file that lists several agents, any will do where another is named."""
    return 0 if wanted.names.get(KINDS["agent"].table) and listed_agents(wanted.file or Path()) else wanted.listed


def _with_settings(plan: Plan, wanted: Wanted) -> Plan:
    """The plan with settings given to the parts they name."""
    parsed = parse_settings(wanted.settings)
    said = {name: value for name, value in wanted.numbers.items() if value is not None}
    plan = configure_run(plan, {**parsed.pop("run", {}), **said})
    parts: dict[str, Any] = {"language_model": {**_kept_model(plan, parsed), **parsed.pop("model", {})}}
    for kind in SINGLE:
        parts[kind.field] = _configured(getattr(plan, kind.field), parsed.pop(kind.table, {}))
    for kind in SEVERAL:
        parts[kind.field] = configured(getattr(plan, kind.field), parsed)
    if parsed:
        names = [choice.label for kind in SEVERAL for choice in getattr(plan, kind.field)]
        known = ["run", "model", *(kind.table for kind in SINGLE), *names]
        name = next(iter(parsed))
        hint = f" A probe, reward model or metric is set where it is asked for, e.g. by --reward {name}."
        raise UnknownName("part of --set", name, known, hint)
    return replace(plan, **parts)


def configured(choices: Sequence[Choice], parsed: dict[str, dict[str, Json]]) -> tuple[Choice, ...]:
    """The choices with the settings that name them, which are taken out of `parsed`."""
    return tuple(_configured(choice, parsed.pop(choice.label, {})) for choice in choices)


def asked_for(kind: str, names: Sequence[str], settings: Sequence[str]) -> tuple[Choice, ...]:
    """Parts of a kind, e.g. "probe", that a run which is there is to have too, with their settings.

    Raises:
        ConfigError: a setting names no part that is asked for.
    """
    parsed = parse_settings(settings)
    choices = configured([choose(name) for name in names], parsed)
    if parsed:
        name = next(iter(parsed))
        raise ConfigError(f"--set {name}: wanted the name of a {kind} that is asked for; add --{kind} {name}")
    return choices


def _kept_model(plan: Plan, parsed: Mapping[str, Mapping[str, Json]]) -> Mapping[str, Json]:
    """The model settings of a plan file, which are of no use to another model."""
    return {} if "model" in parsed.get("agent", {}) else plan.language_model


def _configured(choice: Choice, values: Mapping[str, Json]) -> Choice:
    return replace(choice, config={**choice.config, **values})
