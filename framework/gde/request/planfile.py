"""A plan as TOML, the form in which users write it and every run keeps it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import tomli_w

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.settings import read_toml

VERSION = 1
SINGLE = {"env": "environment", "agent": "agent", "executor": "executor"}
SEVERAL = {"probe": "probes", "reward": "rewards", "metric": "metrics", "report": "reporters"}
RUN = ("episodes", "repeats", "seed", "concurrency")
WITHOUT_EFFECT = {"concurrency", "executor", "reporters"}
"""Fields of a plan that change where and how, never what."""


def read_plan(path: Path) -> Plan:
    """The plan in a TOML file.

    Raises:
        ConfigError: not TOML, a newer version, an unknown table or a wrong value.
    """
    tables = read_toml(path)
    _check_tables(tables, path)
    parts: dict[str, Any] = {field: _choice(tables[table], table) for table, field in SINGLE.items() if table in tables}
    for table, field in SEVERAL.items():
        if table in tables:
            parts[field] = tuple(_choice(each, table) for each in tables[table])
    return configure_run(Plan(**parts, language_model=tables.get("model", {})), tables.get("run", {}))


def _check_tables(tables: dict[str, Any], path: Path) -> None:
    version = tables.pop("version", VERSION)
    if version != VERSION:
        raise ConfigError(f"plan {path}: wanted version {VERSION}, got {version}; upgrade gde-eval to read it")
    for table in tables:
        if table not in {*SINGLE, *SEVERAL, "run", "model"}:
            raise UnknownName("table of a plan", table, [*SINGLE, *SEVERAL, "run", "model"])
    for table in ("run", "model"):
        if not isinstance(tables.get(table, {}), Mapping):
            raise ConfigError(f"plan {path}: wanted a table [{table}], got {tables[table]!r}")
    for table in SEVERAL:
        if not isinstance(tables.get(table, []), list):
            raise ConfigError(f"plan {path}: wanted [[{table}]] in double brackets, once for each, got a single table")
    for needed in ("env", "agent"):
        if needed not in tables:
            raise ConfigError(f"plan {path}: wanted a table [{needed}] with `use = NAME`, got none")


def configure_run(plan: Plan, values: Mapping[str, Json]) -> Plan:
    """The plan with the given numbers of the run, validated.

    Raises:
        ConfigError: a number that is none or out of range.
    """
    for name in values:
        if name not in RUN:
            raise UnknownName("field of run", name, RUN)
    numbers: dict[str, Any] = {name: _whole_number(name, value) for name, value in values.items()}
    changed = replace(plan, **numbers)
    for name, least in (("episodes", 1), ("repeats", 1), ("concurrency", 1), ("seed", 0)):
        if getattr(changed, name) < least:
            raise ConfigError(f"run.{name}: wanted a whole number of at least {least}, got {getattr(changed, name)}")
    return changed


def _whole_number(name: str, value: Json) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError
        return int(value)
    except ValueError:
        raise ConfigError(f"run.{name}: wanted a whole number, got {value!r}") from None


def _choice(table: Any, whose: str) -> Choice:
    if not isinstance(table, Mapping) or not isinstance(table.get("use"), str):
        raise ConfigError(f"plan: wanted [{whose}] with `use = NAME`, got {table!r}")
    return Choice(name=table["use"], config={name: value for name, value in table.items() if name != "use"})


def plan_tables(plan: Plan) -> dict[str, Any]:
    """The plan as the tables of its file; a field without value is written as "none"."""
    tables: dict[str, Any] = {"version": VERSION, "run": {name: getattr(plan, name) for name in RUN}}
    for table, field in SINGLE.items():
        tables[table] = _table(getattr(plan, field))
    if plan.language_model:
        tables["model"] = _plain(plan.language_model)
    for table, field in SEVERAL.items():
        tables[table] = [_table(choice) for choice in getattr(plan, field)]
    return tables


def write_plan(plan: Plan) -> str:
    """The text of the plan's file; `read_plan` gives the same plan back."""
    return tomli_w.dumps(plan_tables(plan))


def plan_hash(plan: Plan) -> str:
    """Twelve hexadecimal digits, equal for plans that must give equal results."""
    identity = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name not in WITHOUT_EFFECT}
    return sha256(json.dumps(_plain(identity), sort_keys=True).encode()).hexdigest()[:12]


def _table(choice: Choice) -> dict[str, Any]:
    return {"use": choice.name, **_plain(choice.config)}


def _plain(value: Any) -> Any:
    if isinstance(value, Choice):
        return _table(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return "none" if value is None else value
