"""A plan as TOML, the form in which users write it and every run keeps it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import tomli_w

from gde.data.json import Json
from gde.data.plan import Choice, Plan, Prices
from gde.errors import ConfigError, UnknownName
from gde.request.kinds import SEVERAL, SINGLE
from gde.request.settings import read_toml

VERSION = 1
COUNTS = {"episodes": 1, "repeats": 1, "seed": 0, "concurrency": 1}
"""Numbers of a run, each with the least that it can be."""
LIMITS = ("turn_seconds", "episode_seconds", "run_seconds", "part_seconds")
BUDGET = ("max_calls", "max_tokens")
MONEY, PRICES, CACHE = "max_cost", "prices", "cache"
RUN = (*COUNTS, *LIMITS, *BUDGET, MONEY, PRICES, CACHE)
WITHOUT_EFFECT = {"concurrency", "executor", "reporters", *LIMITS, *BUDGET, MONEY, PRICES, CACHE}
"""Fields of a plan that change where and how, never what."""


def read_plan(path: Path, agent: int | None = None) -> Plan:
    """The plan in a TOML file.

    Args:
        path: of the file.
        agent: which of the agents, where the file lists several as `[[agent]]`.

    Raises:
        ConfigError: not TOML, a newer version, an unknown table or a wrong value; several agents, and none is chosen.
    """
    tables = read_toml(path)
    if isinstance(tables.get("agent"), list):
        if agent is None:
            raise ConfigError(f"plan {path}: wanted one [agent], got a list: only `gde eval --plan` takes several")
        tables["agent"] = tables["agent"][agent]
    return plan_of(tables, str(path))


def listed_agents(path: Path) -> list[str]:
    """The names of the agents that a plan file lists as `[[agent]]`; none where it has a single one.

    Raises:
        ConfigError: not TOML, or an agent without a name.
    """
    agents = read_toml(path).get("agent")
    return [_choice(each, "agent").name for each in agents] if isinstance(agents, list) else []


def plan_of(tables: dict[str, Any], path: str) -> Plan:
    """The plan in the tables of a plan file; `path` names it in messages.

    Raises:
        ConfigError: a newer version, an unknown table or a wrong value.
    """
    _check_tables(tables, path)
    parts: dict[str, Any] = {
        kind.field: _choice(tables[kind.table], kind.table) for kind in SINGLE if kind.table in tables
    }
    for kind in SEVERAL:
        if kind.table in tables:
            parts[kind.field] = tuple(_choice(each, kind.table) for each in tables[kind.table])
    return configure_run(Plan(**parts, language_model=tables.get("model", {})), tables.get("run", {}))


def _check_tables(tables: dict[str, Any], path: str) -> None:
    version = tables.pop("version", VERSION)
    if version != VERSION:
        raise ConfigError(f"plan {path}: wanted version {VERSION}, got {version}; upgrade gde-eval to read it")
    known = [*(kind.table for kind in (*SINGLE, *SEVERAL)), "run", "model"]
    for table in tables:
        if table not in known:
            raise UnknownName("table of a plan", table, known)
    for table in ("run", "model"):
        if not isinstance(tables.get(table, {}), Mapping):
            raise ConfigError(f"plan {path}: wanted a table [{table}], got {tables[table]!r}")
    for table in (kind.table for kind in SEVERAL):
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
    numbers: dict[str, Any] = {name: _number(name, value) for name, value in values.items()}
    changed = replace(plan, **numbers)
    for name, least in COUNTS.items():
        if getattr(changed, name) < least:
            raise ConfigError(f"run.{name}: wanted a whole number of at least {least}, got {getattr(changed, name)}")
    return changed


def _number(name: str, value: Json) -> float | str | Prices | None:
    if name == CACHE:
        return _path(value)
    if name == PRICES:
        return _prices(value)
    if name in LIMITS or name == MONEY:
        return _positive(name, value, "seconds" if name in LIMITS else "an amount of money")
    if name in BUDGET and (value is None or value == "none"):
        return None
    number = _whole_number(name, value)
    if name in BUDGET and number < 1:
        raise ConfigError(f"run.{name}: wanted a whole number of at least 1, or none, got {number}")
    return number


def _positive(name: str, value: Json, wanted: str) -> float | None:
    if value is None or value == "none":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str) or not 0 < float(value) < inf:
            raise ValueError
        return float(value)
    except ValueError:
        raise ConfigError(f"run.{name}: wanted {wanted} above 0, or none, got {value!r}") from None


def _prices(value: Json) -> Prices:
    """From a table of a plan file, or its JSON on the command line."""
    try:
        table: Any = json.loads(value) if isinstance(value, str) else value
        return {str(model): _price(price) for model, price in table.items()}
    except (ValueError, TypeError, AttributeError):
        wanted = '{"MODEL": [PROMPT, ANSWER]}, both the price of a million tokens and not below 0'
        raise ConfigError(f"run.{PRICES}: wanted {wanted}, got {value!r}") from None


def _path(value: Json) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"run.{CACHE}: wanted the path of a file, got {value!r}")
    return value


def _price(value: Any) -> tuple[float, float]:
    prompt, answer = value
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < inf for one in value):
        raise ValueError
    return float(prompt), float(answer)


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
    config = {name: value for name, value in table.items() if name not in ("use", "as")}
    return Choice(name=table["use"], config=config, alias=str(table.get("as", "")))


def plan_tables(plan: Plan) -> dict[str, Any]:
    """The plan as the tables of its file; a field without value is written as "none"."""
    run = {name: getattr(plan, name) for name in RUN if name not in (PRICES, CACHE) or getattr(plan, name)}
    tables: dict[str, Any] = {"version": VERSION, "run": _plain(run)}
    for kind in SINGLE:
        tables[kind.table] = _table(getattr(plan, kind.field))
    if plan.language_model:
        tables["model"] = _plain(plan.language_model)
    for kind in SEVERAL:
        tables[kind.table] = [_table(choice) for choice in getattr(plan, kind.field)]
    return tables


def write_plan(plan: Plan) -> str:
    """The text of the plan's file; `read_plan` gives the same plan back."""
    return tomli_w.dumps(plan_tables(plan))


def plan_hash(plan: Plan) -> str:
    """Twelve hexadecimal digits, equal for plans that must give equal results."""
    identity = {field.name: getattr(plan, field.name) for field in fields(plan) if field.name not in WITHOUT_EFFECT}
    return sha256(json.dumps(_plain(identity), sort_keys=True).encode()).hexdigest()[:12]


def _table(choice: Choice) -> dict[str, Any]:
    return {"use": choice.name, **({"as": choice.alias} if choice.alias else {}), **_plain(choice.config)}


def _plain(value: Any) -> Any:
    if isinstance(value, Choice):
        return _table(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    return "none" if value is None else value
