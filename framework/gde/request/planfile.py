"""A plan as TOML, the form in which users write it and every run keeps it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import tomli_w
from annotated_types import Ge, Gt
from pydantic import AllowInfNan

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.kinds import MODEL, SEVERAL, SINGLE
from gde.request.settings import read_toml, typed

VERSION = 2
"""2: language models are a list of named parts, which have their prices."""
NO_VALUE = "none"
"""How a plan file and a command line write that a field has no value: TOML has no
null.
"""


_Count = Annotated[int, Ge(1)]
_Positive = Annotated[float, Gt(0), AllowInfNan(False)]
RUN: Mapping[str, Any] = {
    "episodes": _Count,
    "repeats": _Count,
    "goal_swap": bool,
    "seed": Annotated[int, Ge(0)],
    "initialisations": _Count,
    "learning": bool,
    "concurrency": _Count,
    "turn_seconds": _Positive | None,
    "episode_seconds": _Positive | None,
    "run_seconds": _Positive | None,
    "part_seconds": _Positive | None,
    "max_calls": _Count | None,
    "max_tokens": _Count | None,
    "max_cost": _Positive | None,
    "cache": str,
}
"""The fields of the table [run] with their types, in the order of the file."""
OF_RESULTS = (
    "episodes",
    "repeats",
    "goal_swap",
    "seed",
    "initialisations",
    "learning",
)
"""The fields of [run] that change results."""
OF_RUN_ALONE = tuple(name for name in RUN if name not in OF_RESULTS)
"""The other fields of [run]."""
HOW_ASKED = (
    "timeout",
    "retries",
    "longest_wait",
    "max_bytes",
    "api_key_env",
    "prices",
)
"""Fields of a model's configuration that change how it is asked, and no answer."""
WITHOUT_EFFECT = {"executor", "reporters", *OF_RUN_ALONE}
"""Fields of a plan that change no result, only where and how the run is done."""


def read_plan(path: Path, agent: int | None = None) -> Plan:
    """The plan in a TOML file.

    Args:
        path: of the file.
        agent: index of the agent, where the file lists several as `[[agent]]`.

    Raises:
        ConfigError: not TOML, a newer version, a wrong value, or several agents without
        `agent`. UnknownName: an unknown table or field.
    """
    tables = read_toml(path)
    agents = tables.get("agent")
    if isinstance(agents, list):
        if agent is None:
            raise ConfigError(
                f"plan {path}: wanted one [agent], got a list: only `gde eval --plan` takes several"
            )
        tables["agent"] = agents[agent]
    return plan_of(tables, str(path))


def listed_agents(path: Path) -> list[str]:
    """The agents that a plan file lists as `[[agent]]`; empty for a single one.

    Raises:
        ConfigError: not TOML, or an agent without a name.
    """
    agents = read_toml(path).get("agent")
    if not isinstance(agents, list):
        return []
    return [_choice(each, "agent").name for each in agents]


def plan_of(tables: dict[str, Any], path: str) -> Plan:
    """The plan in the tables of a plan file; `path` names it in messages.

    Raises:
        ConfigError: a newer version or a wrong value.
        UnknownName: an unknown table or field.
    """
    tables = _brought_forward(tables, path)
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

    return configure_run(Plan(**parts), tables.get("run", {}))


def _brought_forward(tables: dict[str, Any], path: str) -> dict[str, Any]:
    """Tables of version 1 as those of version 2; others as they are."""
    if tables.get("version") != 1:
        return tables
    run, probes = tables.get("run", {}), tables.get("probe", [])
    is_read = isinstance(run, dict) and isinstance(probes, list)
    if not is_read or not all(isinstance(probe, dict) for probe in probes):
        raise ConfigError(f"plan {path}: wanted tables [run] and [[probe]]")
    run = dict(run)
    models = [{"use": name, "prices": each} for name, each in _prices(run)]
    if "model" in tables:
        # Without a name it is the agent's.
        models.append(tables["model"])
    renamed = []
    for probe in probes:
        renamed.append(
            {"position" if name == "mark" else name: probe[name] for name in probe}
        )
    return {**tables, "version": 2, "run": run, "model": models, "probe": renamed}


def _prices(run: dict[str, Any]) -> list[tuple[str, Any]]:
    prices = run.pop("prices", {})
    return list(prices.items()) if isinstance(prices, dict) else []


def _check_tables(tables: dict[str, Any], path: str) -> None:
    version = tables.pop("version", VERSION)
    if version != VERSION:
        advice = "use the gde-eval that wrote it"
        if isinstance(version, int) and version > VERSION:
            advice = "upgrade gde-eval to read it"
        raise ConfigError(
            f"plan {path}: wanted version {VERSION}, got {version}; {advice}"
        )

    single = [kind.table for kind in SINGLE]
    several = [kind.table for kind in SEVERAL]
    known = [*single, *several, "run"]
    for table in tables:
        if table not in known:
            raise UnknownName("table of a plan", table, known)

    if not isinstance(tables.get("run", {}), Mapping):
        raise ConfigError(f"plan {path}: wanted a table [run], got {tables['run']!r}")
    for table in several:
        if not isinstance(tables.get(table, []), list):
            raise ConfigError(
                f"plan {path}: wanted [[{table}]] in double brackets, once for each, got a single table"
            )
    for table in ("env", "agent"):
        if table not in tables:
            raise ConfigError(
                f"plan {path}: wanted a table [{table}] with `use = NAME`, got none"
            )


def _choice(table: Any, whose: str) -> Choice:
    # A model without a name is the agent's.
    unnamed = "" if whose == MODEL.table else None
    is_table = isinstance(table, Mapping)
    if not is_table or not isinstance(table.get("use", unnamed), str):
        raise ConfigError(f"plan: wanted [{whose}] with `use = NAME`, got {table!r}")

    # All other keys are the part's own settings.
    config = dict(table)
    name = config.pop("use", "")
    alias = config.pop("as", "")
    return Choice(name=name, config=config, alias=str(alias))


def configure_run(plan: Plan, values: Mapping[str, Json]) -> Plan:
    """The plan with validated fields of the run.

    Values are those of TOML, or texts of a command line.

    Raises:
        ConfigError: a value that a field does not take.
        UnknownName: an unknown field.
    """
    read: dict[str, Any] = {}
    for name, value in values.items():
        if name not in RUN:
            raise UnknownName("field of run", name, RUN)
        read[name] = typed(RUN[name], value, f"run.{name}")
    return replace(plan, **read)


def plan_tables(plan: Plan) -> dict[str, Any]:
    """The plan as TOML tables; a field without value is written as "none"."""
    run = {name: getattr(plan, name) for name in RUN}
    if not plan.cache:
        del run["cache"]
    tables: dict[str, Any] = {"version": VERSION, "run": _plain(run)}
    for kind in SINGLE:
        tables[kind.table] = _plain(getattr(plan, kind.field))
    for kind in SEVERAL:
        tables[kind.table] = _plain(getattr(plan, kind.field))
    return tables


def write_plan(plan: Plan) -> str:
    """The text of the plan's file; `read_plan` gives the same plan back."""
    return tomli_w.dumps(plan_tables(plan))


def plan_hash(plan: Plan) -> str:
    """Twelve hexadecimal digits, equal for plans that must give equal results."""
    identity = {}
    plan = replace(plan, models=tuple(map(_as_answering, plan.models)))
    for field in fields(plan):
        if field.name not in WITHOUT_EFFECT:
            identity[field.name] = _plain(getattr(plan, field.name))
    text = json.dumps(identity, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:12]


def _as_answering(model: Choice) -> Choice:
    """The choice of a model without what changes no answer."""
    return replace(model, config=without_asking(model.config))


def without_asking(config: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of a model's configuration on which answers depend."""
    return {name: value for name, value in config.items() if name not in HOW_ASKED}


def _plain(value: Any) -> Any:
    """A value of a plan as TOML has it."""
    if isinstance(value, Choice):
        table = {"use": value.name} if value.name else {}
        if value.alias:
            table["as"] = value.alias
        return {**table, **_plain(value.config)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(each) for each in value]
    if value is None:
        return NO_VALUE
    return value
