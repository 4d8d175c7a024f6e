"""A plan as TOML, the form in which users write it and every run keeps it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import tomli_w

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.howfile import OPTIONS, RUN_HOW, as_toml, read_choice
from gde.request.kinds import MODEL, SEVERAL, SINGLE
from gde.request.settings import read_toml, typed
from gde.validating import field_types

VERSION = 3
"""3: it says what is measured, and no longer how."""

RUN = field_types(Plan)
"""The fields of the table [run] with their types, in the order of the file."""
ADDED = ("models", "probes", "metrics")
"""The fields of a plan to which parts are added when the run is over."""
Added = Mapping[str, tuple[Choice, ...]]
"""Such parts, by field of the plan."""


@dataclass(frozen=True, kw_only=True)
class RecordedPlan:
    """The plan of a run folder, which is all of the folder that is obeyed."""

    id: str
    """Random, of this run alone. Published and imported runs get another one."""
    begun: Plan
    """The plan that the run began with, complete."""
    added: Added = field(default_factory=dict)
    """What was added to it since."""

    @property
    def plan(self) -> Plan:
        """The plan with everything that was added."""
        fields: dict[str, Any] = {}
        for name, choices in self.added.items():
            fields[name] = joined(getattr(self.begun, name), choices)
        return replace(self.begun, **fields)


def joined(some: Sequence[Choice], others: Sequence[Choice]) -> tuple[Choice, ...]:
    """All choices; of two with the same label the second."""
    by_label = {choice.label: choice for choice in some}
    by_label |= {choice.label: choice for choice in others}
    return tuple(by_label.values())


def read_plan(path: Path | str) -> Plan:
    """The plan in a TOML file.

    Raises:
        ConfigError: as `read_plans`, or several agents.
    """
    plans = read_plans(Path(path))
    if len(plans) > 1:
        raise ConfigError(
            f"plan {path}: wanted one [agent], got a list: only `gde eval` takes several"
        )
    return plans[0]


def read_plans(path: Path) -> list[Plan]:
    """The plans in a TOML file: one for each agent that it lists as `[[agent]]`.

    Raises:
        ConfigError: not TOML, a newer version or a wrong value.
        UnknownName: an unknown table or field.
    """
    tables = read_toml(path)
    agents = tables.get("agent")
    listed = [tables]
    if isinstance(agents, list) and agents:
        listed = [{**tables, "agent": agent} for agent in agents]
    plans = []
    for each in listed:
        added = _added(each, path)
        begun = plan_of(each, str(path))
        plans.append(RecordedPlan(id="", begun=begun, added=added).plan)
    return plans


def plan_of(tables: dict[str, Any], path: str) -> Plan:
    """The plan in the tables of a plan file; `path` names it in messages.

    Texts that may stand for something else are marked, as `read_toml` marks them.

    Raises:
        ConfigError: a newer version or a wrong value.
        UnknownName: an unknown table or field.
    """
    tables = dict(tables)
    _check_tables(tables, path)
    parts: dict[str, Any] = {}
    for kind in SINGLE:
        if kind.table in tables:
            parts[kind.field] = _choice(tables[kind.table], kind.table)
    for kind in SEVERAL:
        if kind.table in tables:
            parts[kind.field] = tuple(
                _choice(each, kind.table) for each in tables[kind.table]
            )

    return configure_run(Plan(**parts), tables.get("run", {}), f"plan {path}")


def _check_tables(tables: dict[str, Any], path: str) -> None:
    version = tables.pop("version", VERSION)
    tables.pop("id", "")
    if version != VERSION:
        advice = "use the gde-eval that wrote it"
        if isinstance(version, int) and version > VERSION:
            advice = "upgrade gde-eval to read it"
        raise ConfigError(
            f"plan {path}: wanted version {VERSION}, got {version}; {advice}"
        )

    _check_names(tables, path)
    if not isinstance(tables.get("run", {}), Mapping):
        raise ConfigError(f"plan {path}: wanted a table [run], got {tables['run']!r}")
    for kind in SEVERAL:
        if not isinstance(tables.get(kind.table, []), list):
            raise ConfigError(
                f"plan {path}: wanted [[{kind.table}]] in double brackets, once for each, got a single table"
            )
    for table in ("env", "agent"):
        if table not in tables:
            raise ConfigError(
                f"plan {path}: wanted a table [{table}] with `use = NAME`, got none"
            )


def _check_names(tables: Mapping[str, Any], path: str) -> None:
    known = [*(kind.table for kind in (*SINGLE, *SEVERAL)), "run"]
    for table in tables:
        if table in OPTIONS:
            raise says_how(f"plan {path}", f"[{table}]", OPTIONS[table])
        if table not in known:
            raise UnknownName("table of a plan", table, known)


def _choice(table: Any, whose: str) -> Choice:
    # A model without a name is the agent's.
    wanted = f"plan: wanted [{whose}] with `use = NAME`"
    return read_choice(table, wanted, unnamed=whose == MODEL.table)


def says_how(where: str, setting: str, instead: str) -> ConfigError:
    """The error of a plan that says how it is run, with what to give instead."""
    return ConfigError(
        f"{where}: {setting} says how a run is done, which no plan says: give {instead}, or put it into your settings"
        " (`gde settings`)"
    )


def configure_run(plan: Plan, values: Mapping[str, Json], where: str = "") -> Plan:
    """The plan with validated fields of the run.

    Values are those of TOML, or texts of a command line; `where` names the plan file.

    Raises:
        ConfigError: a value that a field does not take, or that says how it is run.
        UnknownName: an unknown field.
    """
    UnknownName.check("field of run", values, (*RUN, *RUN_HOW))
    read: dict[str, Any] = {}
    for name, value in values.items():
        if name in RUN_HOW:
            raise says_how(where, f"run.{name}", f"run.{name}={value}")
        read[name] = typed(RUN[name], value, f"run.{name}")
    return replace(plan, **read)


def read_recorded(path: Path) -> RecordedPlan:
    """The plan in the plan.toml of a run folder.

    Raises:
        ConfigError: as `read_plans`, or it is no run's.
    """
    tables = read_toml(path)
    identity = tables.get("id")
    added = _added(tables, path)
    # A plan of another version has no id, and is told of first.
    begun = plan_of(tables, str(path))
    if not isinstance(identity, str):
        raise ConfigError(f"plan {path}: wanted the id of a run, got none")
    return RecordedPlan(id=identity, begun=begun, added=added)


def _added(tables: dict[str, Any], path: Path) -> Added:
    """The parts that were added to the run, which are taken out of the tables."""
    added = tables.pop("added", {})
    by_table = {kind.table: kind.field for kind in SEVERAL if kind.field in ADDED}
    found = {}
    for table, choices in added.items() if isinstance(added, Mapping) else [("", 0)]:
        if table not in by_table or not isinstance(choices, list):
            raise ConfigError(f"plan {path}: wanted [[added.metric]] or the like")
        found[by_table[table]] = tuple(_choice(each, table) for each in choices)
    return found


def write_recorded(recorded: RecordedPlan) -> str:
    """The text of the plan.toml of a run folder."""
    tables = plan_tables(recorded.begun)
    tables = {"version": tables.pop("version"), "id": recorded.id, **tables}
    added = {}
    for kind in SEVERAL:
        if choices := recorded.added.get(kind.field):
            added[kind.table] = as_toml(choices)
    if added:
        tables["added"] = added
    return tomli_w.dumps(tables)


def plan_tables(plan: Plan) -> dict[str, Any]:
    """The plan as TOML tables; a field without value is written as "none"."""
    run = {name: getattr(plan, name) for name in RUN}
    tables: dict[str, Any] = {"version": VERSION, "run": as_toml(run)}
    for kind in (*SINGLE, *SEVERAL):
        tables[kind.table] = as_toml(getattr(plan, kind.field))
    return tables


def write_plan(plan: Plan) -> str:
    """The text of the plan's file; `read_plan` gives the same plan back."""
    return tomli_w.dumps(plan_tables(plan))


def plan_hash(plan: Plan) -> str:
    """Twelve hexadecimal digits, equal for plans that must give equal results."""
    text = json.dumps(plan_tables(plan), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:12]
