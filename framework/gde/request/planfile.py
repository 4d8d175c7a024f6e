"""A plan as TOML, the form in which users write it and every run keeps it."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import tomli_w
from annotated_types import Ge, Gt
from pydantic import AllowInfNan, Strict, TypeAdapter, ValidationError

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.kinds import SEVERAL, SINGLE
from gde.request.settings import read_toml

VERSION = 1
NO_VALUE = "none"
"""How a plan file and a command line write that a field has no value: TOML has no
null.
"""


@dataclass(frozen=True)
class RunField:
    """A field of the table [run]."""

    type: Any
    wanted: str
    """What it takes, for messages."""

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Pydantic's reader of its values."""
        return TypeAdapter(self.type)


COUNT = RunField(Annotated[int, Strict(), Ge(1)], "a whole number of at least 1")
SEED = RunField(Annotated[int, Strict(), Ge(0)], "a whole number of at least 0")
SECONDS = RunField(
    Annotated[float, Strict(), Gt(0), AllowInfNan(False)] | None,
    "seconds above 0, or none",
)
BUDGET = RunField(
    Annotated[int, Strict(), Ge(1)] | None, "a whole number of at least 1, or none"
)
MONEY = RunField(SECONDS.type, "an amount of money above 0, or none")
PRICE = Annotated[float, Strict(), Ge(0), AllowInfNan(False)]
PRICES = RunField(
    dict[str, tuple[PRICE, PRICE]],
    '{"MODEL": [PROMPT, ANSWER]}, both the price of a million tokens and not below 0',
)
PATH = RunField(str, "the path of a file")
RUN: Mapping[str, RunField] = {
    "episodes": COUNT,
    "repeats": COUNT,
    "seed": SEED,
    "concurrency": COUNT,
    "turn_seconds": SECONDS,
    "episode_seconds": SECONDS,
    "run_seconds": SECONDS,
    "part_seconds": SECONDS,
    "max_calls": BUDGET,
    "max_tokens": BUDGET,
    "max_cost": MONEY,
    "prices": PRICES,
    "cache": PATH,
}
"""The fields of the table [run], in the order of the file."""
OF_RESULTS = ("episodes", "repeats", "seed")
"""The fields of [run] that change results."""
WITHOUT_EFFECT = {"executor", "reporters", *RUN} - {*OF_RESULTS}
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
    """The names of the agents that a plan file lists as `[[agent]]`; empty where it has
    a single one.

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

    plan = Plan(**parts, language_model=tables.get("model", {}))
    return configure_run(plan, tables.get("run", {}))


def _check_tables(tables: dict[str, Any], path: str) -> None:
    version = tables.pop("version", VERSION)
    if version != VERSION:
        raise ConfigError(
            f"plan {path}: wanted version {VERSION}, got {version}; upgrade gde-eval to read it"
        )

    single = [kind.table for kind in SINGLE]
    several = [kind.table for kind in SEVERAL]
    known = [*single, *several, "run", "model"]
    for table in tables:
        if table not in known:
            raise UnknownName("table of a plan", table, known)

    for table in ("run", "model"):
        if not isinstance(tables.get(table, {}), Mapping):
            raise ConfigError(
                f"plan {path}: wanted a table [{table}], got {tables[table]!r}"
            )
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
    if not isinstance(table, Mapping) or not isinstance(table.get("use"), str):
        raise ConfigError(f"plan: wanted [{whose}] with `use = NAME`, got {table!r}")

    # All other keys are the part's own settings.
    config = dict(table)
    name = config.pop("use")
    alias = config.pop("as", "")
    return Choice(name=name, config=config, alias=str(alias))


def configure_run(plan: Plan, values: Mapping[str, Json]) -> Plan:
    """The plan with the given fields of the run, validated: values of TOML, or texts of
    a command line.

    Raises:
        ConfigError: a value that a field does not take.
        UnknownName: an unknown field.
    """
    read: dict[str, Any] = {}
    for name, value in values.items():
        if name not in RUN:
            raise UnknownName("field of run", name, RUN)
        field = RUN[name]
        reading = _reading(value, field)
        try:
            read[name] = field.adapter.validate_python(reading)
        except ValidationError as error:
            raise ConfigError(
                f"run.{name}: wanted {field.wanted}, got {value!r}"
            ) from error
    return replace(plan, **read)


def _reading(value: Json, field: RunField) -> Json:
    """What a text stands for: none, a number or a table."""
    if field is PATH or not isinstance(value, str):
        return value
    if value == NO_VALUE:
        return None
    with suppress(json.JSONDecodeError):
        read: Json = json.loads(value)
        return read
    return value


def plan_tables(plan: Plan) -> dict[str, Any]:
    """The plan as the tables of its file; a field without value is written as
    "none".
    """
    run = {name: getattr(plan, name) for name in RUN}
    for name in ("prices", "cache"):
        if not run[name]:
            del run[name]
    tables: dict[str, Any] = {"version": VERSION, "run": _plain(run)}
    for kind in SINGLE:
        tables[kind.table] = _plain(getattr(plan, kind.field))
    if plan.language_model:
        tables["model"] = _plain(plan.language_model)
    for kind in SEVERAL:
        tables[kind.table] = _plain(getattr(plan, kind.field))
    return tables


def write_plan(plan: Plan) -> str:
    """The text of the plan's file; `read_plan` gives the same plan back."""
    return tomli_w.dumps(plan_tables(plan))


def plan_hash(plan: Plan) -> str:
    """Twelve hexadecimal digits, equal for plans that must give equal results."""
    identity = {}
    for field in fields(plan):
        if field.name not in WITHOUT_EFFECT:
            identity[field.name] = _plain(getattr(plan, field.name))
    text = json.dumps(identity, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:12]


def _plain(value: Any) -> Any:
    """A value of a plan as TOML has it."""
    if isinstance(value, Choice):
        table = {"use": value.name}
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
