"""How a run is done, as TOML: the user's settings, and the last way of each run."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import Choice
from gde.errors import ConfigError, UnknownName
from gde.request.kinds import EXECUTOR, REPORTER
from gde.request.settings import read_toml, typed
from gde.validating import field_types

NO_VALUE = "none"
"""How a file and a command line write that a field has no value: TOML has no
null.
"""
SETTINGS = "GDE_SETTINGS"
"""The environment variable that names another file of settings."""
RUN_HOW = field_types(How)
"""Fields of a `How` that `--set run.FIELD` takes, with their types."""
RUN_HOW.pop("settings")
OPTIONS = {EXECUTOR.table: "an executor", REPORTER.table: "a reporter"}
"""Tables that no plan file has, and what to give in their place."""
PARTS = "parts"
"""The table of the settings of parts, by part."""
TRUSTED = "trusted_folders"
KNOWN = (*RUN_HOW, EXECUTOR.field, REPORTER.field, PARTS)


@dataclass(frozen=True, kw_only=True)
class UserSettings:
    """What a user has set for all runs."""

    how: How
    trusted_folders: tuple[Path, ...] = ()
    """Run folders below them are trusted, e.g. on a shared cluster."""


def settings_file() -> Path:
    """The file of the user's settings, which need not exist."""
    if named := os.environ.get(SETTINGS):
        return Path(named)
    # Imported when needed, for the start of every command would wait for it.
    from platformdirs import user_config_path

    return user_config_path("gde") / "settings.toml"


def read_settings() -> UserSettings:
    """The user's settings; defaults where there is no file.

    Raises:
        ConfigError: the file cannot be read, or a value that a field does not take.
        UnknownName: an unknown field.
    """
    path = settings_file()
    if not path.is_file():
        return UserSettings(how=How())
    tables = read_toml(path, "settings")
    folders = typed(tuple[Path, ...], tables.pop(TRUSTED, ()), f"{path}: {TRUSTED}")
    absolute = tuple(Path(each).expanduser().absolute() for each in folders)
    how = how_of(tables, str(path), (TRUSTED,))
    return UserSettings(how=how, trusted_folders=absolute)


def configure_how(how: How, values: Mapping[str, Json]) -> How:
    """A `How` with validated values of `run`, e.g. {"max_calls": "900"}.

    Raises:
        ConfigError: a value that a field does not take.
        UnknownName: an unknown field.
    """
    UnknownName.check("field of run", values, RUN_HOW)
    read: dict[str, Any] = {}
    for name, value in values.items():
        read[name] = typed(RUN_HOW[name], value, f"run.{name}")
    return replace(how, **read)


def with_settings(how: How, settings: Mapping[str, Mapping[str, Json]]) -> How:
    """A `How` with further values of parts."""
    merged = dict(how.settings)
    for part, values in settings.items():
        merged[part] = {**merged.get(part, {}), **values}
    return replace(how, settings=merged)


def how_tables(how: How) -> dict[str, Any]:
    """A `How` as TOML tables, which `how_of` reads; what is not set is left out."""
    tables: dict[str, Any] = {}
    for name in RUN_HOW:
        value = getattr(how, name)
        if value not in (None, ""):
            tables[name] = value
    tables[EXECUTOR.field] = as_toml(how.executor)
    tables[REPORTER.field] = as_toml(how.reporters)
    parts = {}
    for part, values in how.settings.items():
        set_values = {name: each for name, each in values.items() if each is not None}
        if set_values:
            parts[part] = set_values
    tables[PARTS] = parts
    return tables


def how_of(tables: Mapping[str, Any], where: str, besides: Sequence[str] = ()) -> How:
    """The `How` in the tables of a file, which `where` names in messages.

    Texts that may stand for something else are marked, as `read_toml` marks them.

    Raises:
        ConfigError: a value that a field does not take.
        UnknownName: an unknown field.
    """
    UnknownName.check(f"setting in {where}", tables, (*KNOWN, *besides))
    run = {name: each for name, each in tables.items() if name in RUN_HOW}
    parts = tables.get(PARTS, {})
    if not isinstance(parts, dict) or not all(map(_is_table, parts.values())):
        raise ConfigError(f"{where}: wanted [{PARTS}.PART] with fields of parts")
    reporters = tables.get(REPORTER.field, ())
    if not isinstance(reporters, list | tuple):
        raise ConfigError(f"{where}: wanted {REPORTER.field} = [NAME, ...]")
    how = How(
        executor=_choice(tables.get(EXECUTOR.field, "serial"), where),
        reporters=[_choice(each, where) for each in reporters],
        settings=parts,
    )
    try:
        _ = how.prices
    except (TypeError, ValueError) as error:
        raise ConfigError(f"{where}: wanted prices = [PROMPTS, ANSWERS]") from error
    return configure_how(how, run)


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def as_toml(value: Any) -> Any:
    """A value of a plan, or of a way to run it, as TOML has it."""
    if isinstance(value, Choice):
        table = {"use": value.name} if value.name else {}
        if value.alias:
            table["as"] = value.alias
        return {**table, **as_toml(value.config)}
    if isinstance(value, Mapping):
        return {key: as_toml(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_toml(each) for each in value]
    if value is None:
        return NO_VALUE
    return value


def read_choice(value: Any, wanted: str, unnamed: bool = False) -> Choice:
    """A part as a table with `use = NAME`, perhaps `as = LABEL`, and its settings.

    Args:
        value: of a file.
        wanted: what it should be, for the message.
        unnamed: whether it may have no name.

    Raises:
        ConfigError: it is no such table.
    """
    nobody = "" if unnamed else None
    if not isinstance(value, Mapping) or not isinstance(value.get("use", nobody), str):
        raise ConfigError(f"{wanted}, got {value!r}")
    # All other keys are the part's own settings.
    config = dict(value)
    name = str(config.pop("use", ""))
    alias = str(config.pop("as", ""))
    return Choice(name=name, config=config, alias=alias)


def _choice(value: Any, where: str) -> Choice:
    """A part as its name or as a table."""
    if isinstance(value, str):
        return Choice(name=value)
    return read_choice(value, f"{where}: wanted a name or `use = NAME`")
