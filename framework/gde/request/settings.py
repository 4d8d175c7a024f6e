"""From what a user wrote to a validated, typed configuration."""

import ast
import inspect
import json
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from itertools import pairwise
from math import isfinite
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError

from gde.data.json import Json
from gde.errors import ConfigError, UnknownName
from gde.request.explaining import explained, within

ConfigT = TypeVar("ConfigT")
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def parse_settings(settings: Iterable[str]) -> dict[str, dict[str, Json]]:
    """`["env.size=9", "agent.model=nano"]` as {"env": {"size": "9"}, "agent": {"model": "nano"}}.

    Values stay text; they get their type where the field that takes them is known.

    Raises:
        ConfigError: a setting that is not PART.FIELD=VALUE, or is given twice.
    """
    parsed: dict[str, dict[str, Json]] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        part, dot, name = key.strip().partition(".")
        if not (equals and dot and part and name):
            raise ConfigError(f"--set {setting!r}: wanted PART.FIELD=VALUE, e.g. env.size=9")
        if name in parsed.setdefault(part, {}):
            raise ConfigError(f"--set {key.strip()} is given twice; several values of a sweep are separated by commas")
        parsed[part][name] = value.strip()
    return parsed


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        ConfigError: the file cannot be read or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"plan {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"plan {path} is no TOML: {error}") from error


def build(config: type[ConfigT], values: Mapping[str, Json], whose: str) -> ConfigT:
    """A validated instance of the configuration class. Its numbers are finite, defaults included: no plan file and no
    result could hold others.

    Raises:
        ConfigError: a field that does not exist, or a value out of range; names field, wanted and got.
    """
    hints = _hints(config)
    _check_names(hints, values, whose)
    typed = {name: _typed(hints[name], value, f"{whose}.{name}") for name, value in values.items()}
    try:
        built = _adapter(config).validate_python(typed)
    except ValidationError as error:
        raise explained(error, whose) from error
    for name in hints:
        if not _finite(getattr(built, name)):
            raise ConfigError(f"{whose}.{name}: wanted a finite number, got {getattr(built, name)}")
    return built


def sweep(config: type[ConfigT], values: Mapping[str, Json], whose: str) -> dict[str, list[Json]]:
    """Each given field with its list of values: one value, or the several of a sweep.

    Raises:
        ConfigError: a field that does not exist, or an empty sweep.
    """
    hints = _hints(config)
    _check_names(hints, values, whose)
    return {name: _alternatives(hints[name], value, f"{whose}.{name}") for name, value in values.items()}


def field_names(config: type[Any]) -> tuple[str, ...]:
    """The fields of a configuration class."""
    return tuple(_hints(config))


def dump(config: object) -> dict[str, Json]:
    """All fields of a configuration as plain values."""
    return dict(_adapter(type(config)).dump_python(config, mode="json"))


def describe(config: type[Any]) -> list[tuple[str, str, Json, str]]:
    """(field, type, default, meaning) of a configuration class, for `gde show`."""
    hints, meanings = _hints(config), field_docstrings(config)
    schema = _adapter(config).json_schema().get("properties", {})
    return [
        (name, _type_name(hint), schema[name].get("default"), meanings.get(name, "")) for name, hint in hints.items()
    ]


def field_docstrings(config: type[Any]) -> dict[str, str]:
    """The docstring beneath each field, inherited ones included, which Python itself does not keep."""
    meanings: dict[str, str] = {}
    for each in reversed(config.__mro__):
        if is_dataclass(each):
            meanings.update(_own_field_docstrings(each))
    return meanings


def _own_field_docstrings(config: type[Any]) -> dict[str, str]:
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(config))).body
    except (OSError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(body.body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }


def _adapter(config: type[ConfigT]) -> TypeAdapter[ConfigT]:
    """What reads and writes a class, which takes a millisecond to make."""
    if config not in _ADAPTERS:
        _ADAPTERS[config] = TypeAdapter(config)
    return _ADAPTERS[config]


def _hints(config: type[Any]) -> dict[str, Any]:
    if not is_dataclass(config):
        raise TypeError(f"{config.__name__} must be a dataclass to serve as a configuration")
    hints = get_type_hints(config, include_extras=True)
    return {field.name: hints[field.name] for field in fields(config)}


def _check_names(hints: Mapping[str, Any], values: Mapping[str, Json], whose: str) -> None:
    for name in values:
        if name not in hints:
            raise UnknownName(f"field of {whose}", name, hints)


def _finite(value: object) -> bool:
    """Whether none of the numbers in a value is NaN or infinite."""
    if isinstance(value, float):
        return isfinite(value)
    if is_dataclass(value):
        return all(_finite(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return all(map(_finite, value.values()))
    return not isinstance(value, list | tuple | set | frozenset) or all(map(_finite, value))


def _alternatives(hint: Any, value: Json, whose: str) -> list[Json]:
    pieces: list[Json]
    if _tried(hint, value)[0]:
        pieces = [value]
    elif isinstance(value, list | tuple):
        pieces = list(value)
    elif isinstance(value, str):
        pieces = _pieces(value)
    else:
        pieces = [value]
    if not pieces:
        raise ConfigError(f"{whose}: a sweep needs at least one value, got none")
    values = [_typed(hint, piece, whose) for piece in pieces]
    if repeated := [value for i, value in enumerate(values) if value in values[:i]]:
        raise ConfigError(f"{whose}: wanted each value of a sweep once, got {repeated[0]!r} twice")
    return values


def _pieces(text: str) -> list[Json]:
    """The values of a sweep, as on a command line or in brackets as in a plan file."""
    with suppress(json.JSONDecodeError):
        if isinstance(read := json.loads(text), list):
            return read
    return [piece.strip() for piece in text.split(",")]


def _typed(hint: Any, value: Json, whose: str) -> Any:
    """The value as the field's type."""
    fitting, misfits = _tried(hint, value)
    if fitting:
        return fitting[0]
    error = next(filter(within, misfits), misfits[-1])
    raise explained(error, whose) from error


def _tried(hint: Any, value: Json) -> tuple[list[Any], list[ValidationError]]:
    """The value by each of its readings that fits, and why the others do not, the value as it stands last."""
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    fitting, misfits = [], []
    for reading in [*_readings(value), value]:
        try:
            fitting.append(adapter.validate_python(reading))
        except ValidationError as error:
            misfits.append(error)
    return fitting, misfits


def _readings(value: Json) -> Iterator[Json]:
    """What a text can stand for, likeliest first: nothing, itself, JSON, a comma-separated list."""
    if isinstance(value, str) and value.lower() in {"none", "null"}:
        yield None
    yield value
    if isinstance(value, str):
        with suppress(json.JSONDecodeError):
            yield json.loads(value)
        yield [piece.strip() for piece in value.split(",") if piece.strip()]


def _type_name(hint: Any) -> str:
    """What a field takes, without the conditions that its meaning or a refusal tells."""
    if hasattr(hint, "__metadata__"):
        return _type_name(hint.__origin__)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return ", ".join(map(str, inner))
    if origin in {Union, UnionType}:
        return " or ".join("none" if each is type(None) else _type_name(each) for each in inner)
    if origin is tuple and inner[1:] == (Ellipsis,):
        return f"{_type_name(inner[0])}, ..."
    return hint.__name__ if isinstance(hint, type) and origin is None else str(hint).replace("typing.", "")
