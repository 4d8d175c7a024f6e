"""Typed configurations from user-written values, and their error messages."""

import ast
import inspect
import json
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from itertools import chain, pairwise, product
from math import isfinite, prod
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import Choice
from gde.errors import ConfigError, UnknownName
from gde.foreign import ForeignFile
from gde.validating import Text, explained, marked

ConfigT = TypeVar("ConfigT")
NO_JSON = (ValueError, RecursionError)
"""What a text raises that is no JSON, has too many digits or is nested too deeply."""
MOST_COMBINATIONS = 10_000
"""Most conditions of a sweep: a short plan from elsewhere could name millions."""
_ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {}


def parse_settings(settings: Iterable[str]) -> dict[str, dict[str, Json]]:
    """Settings by part and field.

    `["env.size=9", "agent.model=nano"]` gives {"env": {"size": "9"}, "agent": {"model":
    "nano"}}.

    Values stay text; they get their type where the field that takes them is known.

    Raises:
        ConfigError: a setting that is not PART.FIELD=VALUE, or is given twice.
    """
    parsed: dict[str, dict[str, Json]] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        key = key.strip()
        part, dot, name = key.partition(".")
        if not (equals and dot and part and name):
            raise ConfigError(
                f"--set {setting!r}: wanted PART.FIELD=VALUE, e.g. env.size=9"
            )

        of_part = parsed.setdefault(part, {})
        if name in of_part:
            raise ConfigError(
                f"--set {key} is given twice; several values of a sweep are separated by commas"
            )
        of_part[name] = Text(value.strip())
    return parsed


def read_toml(path: Path, title: str = "plan") -> dict[str, Any]:
    """The tables of a TOML file, which `title` names in messages.

    Raises:
        ConfigError: the file cannot be read or is not TOML.
    """
    file = ForeignFile(title, path)
    text = file.text()
    try:
        read = tomllib.loads(text)
    # A number of too many digits is a ValueError like the others.
    except (ValueError, RecursionError) as error:
        raise file.refused(f"wanted TOML, got {error}") from error
    tables: dict[str, Any] = marked(read)
    return tables


def build(config: type[ConfigT], values: Mapping[str, Json], whose: str) -> ConfigT:
    """A validated instance of a configuration class with finite numbers.

    Defaults are checked too.

    Args:
        config: a dataclass.
        values: by field: values of JSON, or `Text` that stands for one.
        whose: the name of the part, for messages.

    Raises:
        ConfigError: a value out of range; names field, wanted and got.
        UnknownName: a field that does not exist.
    """
    hints = _hints(config)
    UnknownName.check(f"field of {whose}", values, hints)
    given = {}
    for name, value in values.items():
        given[name] = typed(hints[name], value, f"{whose}.{name}")

    # Values that fit their fields may still not fit each other.
    try:
        built = _adapter(config).validate_python(given)
    except ValidationError as error:
        raise explained(error, whose) from error

    # Neither a plan file nor a result can hold other numbers.
    for name in hints:
        value = getattr(built, name)
        if not _finite(value):
            raise ConfigError(f"{whose}.{name}: wanted a finite number, got {value}")
    return built


def build_part(
    config: type[ConfigT], choice: Choice, how: Mapping[str, Json], whose: str
) -> ConfigT:
    """The configuration of a part: what its plan says, and how the user runs it.

    Args:
        config: a dataclass.
        choice: of a plan. One in Python or on a command line may hold both.
        how: values of the fields that say how it is run. Those of the choice win.
        whose: the name of the part, for messages.

    Raises:
        ConfigError: `how` says what, or as `build`.
        UnknownName: as `build`.
    """
    marked = how_fields(config)
    for name in how:
        if name in field_names(config) and name not in marked:
            known = ", ".join(f"{whose}.{each}" for each in sorted(marked)) or "nothing"
            raise ConfigError(
                f"{whose}.{name} could change the results of the run: start a new one with it."
                f" Of this part, a run that has begun takes {known}"
            )
    return build(config, {**how, **choice.config}, whose)


def combinations(
    config: type[Any], values: Mapping[str, Json], whose: str
) -> tuple[dict[str, list[Json]], list[dict[str, Json]]]:
    """The fields that a sweep varies, each with its values, and every combination of
    the values of all fields.

    Raises:
        ConfigError: an empty sweep, or a value that the field does not take.
        UnknownName: a field that does not exist.
    """
    hints = _hints(config)
    UnknownName.check(f"field of {whose}", values, hints)
    alternatives: dict[str, list[Json]] = {}
    for name, value in values.items():
        several = _alternatives(hints[name], value, f"{whose}.{name}")
        alternatives[name] = to_jsonable_python(several)

    swept = {name: each for name, each in alternatives.items() if len(each) > 1}
    if (n := prod(map(len, alternatives.values()))) > MOST_COMBINATIONS:
        wanted = f"wanted at most {MOST_COMBINATIONS:,} combinations of swept values"
        raise ConfigError(f"{whose}: {wanted}, got {n:,}")
    crossed = product(*alternatives.values())
    return swept, [dict(zip(alternatives, each, strict=True)) for each in crossed]


def field_names(config: type[Any]) -> tuple[str, ...]:
    """The fields of a configuration class."""
    return tuple(_hints(config))


def required_fields(config: type[Any]) -> list[str]:
    """The fields of a configuration class that have no default."""
    required = []
    for field in fields(config):
        if field.default is MISSING and field.default_factory is MISSING:
            required.append(field.name)
    return required


def dump(config: object) -> dict[str, Json]:
    """All fields of a configuration as plain values."""
    return dict(_adapter(type(config)).dump_python(config, mode="json"))


def paths(config: object) -> dict[str, Path]:
    """The files and folders that a configuration names, by field."""
    named = {}
    for name in _hints(type(config)):
        value = getattr(config, name)
        if isinstance(value, Path):
            named[name] = value
    return named


def how_fields(config: type[Any]) -> frozenset[str]:
    """The fields of a configuration class that say how a run is done."""
    marked = []
    for name, hint in _hints(config).items():
        if How in getattr(hint, "__metadata__", ()):
            marked.append(name)
    return frozenset(marked)


def dump_what(config: object) -> dict[str, Json]:
    """The fields of a configuration on which results depend, as plain values."""
    marked = how_fields(type(config))
    return {name: each for name, each in dump(config).items() if name not in marked}


def dump_how(config: object) -> dict[str, Json]:
    """The other fields, which say how a run is done."""
    marked = how_fields(type(config))
    return {name: each for name, each in dump(config).items() if name in marked}


def describe(config: type[Any]) -> list[tuple[str, str, Json, str]]:
    """(field, type, default, meaning) of a configuration class, for `gde show`."""
    meanings = field_docstrings(config)
    schema = _adapter(config).json_schema().get("properties", {})
    rows = []
    for name, hint in _hints(config).items():
        default = schema[name].get("default")
        meaning = meanings.get(name, "")
        rows.append((name, _type_name(hint), default, meaning))
    return rows


def field_docstrings(config: type[Any]) -> dict[str, str]:
    """The docstring under each field, inherited ones included.

    Python itself does not keep them.
    """
    meanings: dict[str, str] = {}
    for each in reversed(config.__mro__):
        if is_dataclass(each):
            meanings.update(_own_field_docstrings(each))
    return meanings


def _own_field_docstrings(config: type[Any]) -> dict[str, str]:
    # A class that was made at runtime has no source, and so no docstrings.
    try:
        source = textwrap.dedent(inspect.getsource(config))
        (body,) = ast.parse(source).body
    except (OSError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in pairwise(body.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                value=ast.Constant(value=str(text))
            ):
                found[name] = " ".join(text.split())
    return found


def _adapter(config: type[ConfigT]) -> TypeAdapter[ConfigT]:
    """Pydantic's reader and writer of a class."""
    # Kept, since it takes a millisecond to make.
    if config not in _ADAPTERS:
        _ADAPTERS[config] = TypeAdapter(config)
    return _ADAPTERS[config]


def _hints(config: type[Any]) -> dict[str, Any]:
    if not is_dataclass(config):
        raise TypeError(
            f"{config.__name__} must be a dataclass to serve as a configuration"
        )
    hints = get_type_hints(config, include_extras=True)
    return {field.name: hints[field.name] for field in fields(config)}


def _finite(value: object) -> bool:
    """Whether no number in a value is NaN or infinite."""
    if isinstance(value, float):
        return isfinite(value)
    if is_dataclass(value):
        return all(_finite(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return all(map(_finite, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_finite, value))
    return True


def _alternatives(hint: Any, value: Json, whose: str) -> list[Json]:
    """The values of a sweep, each with its type.

    A value that the field takes as it is, is a single value.
    """
    fitting, _ = _tried(hint, value)
    pieces: list[Json] = [value]
    if not fitting and isinstance(value, list | tuple):
        pieces = list(value)
    elif not fitting and isinstance(value, Text):
        pieces = _pieces(value)
    if not pieces:
        raise ConfigError(f"{whose}: a sweep needs at least one value, got none")

    values: list[Json] = []
    for piece in pieces:
        one = typed(hint, piece, whose)
        if one in values:
            raise ConfigError(
                f"{whose}: wanted each value of a sweep once, got {one!r} twice"
            )
        values.append(one)
    return values


def _pieces(text: str) -> list[Json]:
    """The values in a text: bracketed as in a plan file, else comma-separated."""
    with suppress(*NO_JSON):
        read = json.loads(text)
        if isinstance(read, list):
            return list(map(marked, read))
    return [Text(piece.strip()) for piece in text.split(",")]


def typed(hint: Any, value: Json, whose: str) -> Any:
    """The value as the field's type, by the first of its readings that fits.

    Raises:
        ConfigError: none does.
    """
    fitting, misfits = _tried(hint, value)
    if fitting:
        return fitting[0]

    # One wrong value of a list says more than that the whole text is no list.
    error = next(filter(_within, misfits), misfits[-1])
    raise explained(error, whose) from error


def _tried(hint: Any, value: Json) -> tuple[list[Any], list[ValidationError]]:
    """The fitting readings of a value, typed, and the errors of the others.

    The value itself comes last.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    if not isinstance(value, Text):
        try:
            return [_strictly(adapter, value)], []
        except ValidationError as error:
            return [], [error]

    fitting = []
    misfits = []
    for reading in [*_readings(value), value]:
        try:
            fitting.append(adapter.validate_python(reading))
        except ValidationError as error:
            misfits.append(error)
    return fitting, misfits


def _strictly(adapter: TypeAdapter[Any], value: object) -> Any:
    """The value as JSON, where a list may be a tuple, and a text the path of a file."""
    try:
        plain = to_json(value, inf_nan_mode="constants")
    except PydanticSerializationError:
        return adapter.validate_python(value, strict=True)
    return adapter.validate_json(plain, strict=True)


def _readings(value: str) -> Iterator[Json]:
    """What a text can mean, likeliest first: none, itself, JSON, a list."""
    if value.lower() in {"none", "null"}:
        yield None
    yield value
    with suppress(*NO_JSON):
        yield json.loads(value)
    yield [piece.strip() for piece in value.split(",") if piece.strip()]


def _within(error: ValidationError) -> bool:
    """Whether the text was read as a list, and one of its values is wrong."""
    steps = chain.from_iterable(problem["loc"] for problem in error.errors())
    return any(isinstance(step, int) for step in steps)


def _type_name(hint: Any) -> str:
    """What a field takes, in words, without its conditions."""
    if hasattr(hint, "__metadata__"):
        return _type_name(hint.__origin__)
    origin = get_origin(hint)
    inner = get_args(hint)
    if origin is Literal:
        return ", ".join(map(str, inner))
    if origin in {Union, UnionType}:
        names = []
        for each in inner:
            names.append("none" if each is type(None) else _type_name(each))
        return " or ".join(names)
    if origin is tuple and inner[1:] == (Ellipsis,):
        return f"{_type_name(inner[0])}, ..."
    if isinstance(hint, type) and origin is None:
        return hint.__name__
    return str(hint).replace("typing.", "")
