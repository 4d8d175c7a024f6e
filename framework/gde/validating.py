"""Values checked against annotated types, with one-line errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, reduce, wraps
from inspect import signature
from operator import or_
from textwrap import shorten
from types import UnionType
from typing import (
    Annotated,
    Any,
    ParamSpec,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import CoreSchema
from pydantic_core.core_schema import is_instance_schema

from gde.errors import ConfigError, UnknownName

P = ParamSpec("P")
T = TypeVar("T")
STRICT = ConfigDict(strict=True, arbitrary_types_allowed=True)
"""Classes that pydantic does not know are checked by `isinstance`."""
WANTED: Mapping[str, str] = {
    "missing": "a value",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "none_required": "none",
    "tuple_type": "a list of values",
    "list_type": "a list of values",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "an object",
    "sequence_str": "a list",
    "callable_type": "a function",
}
"""The value that a field wants, by pydantic's type of the error. Other errors say it
themselves.
"""


LONGEST = 200
"""Most characters of a wrong value in a message."""


class Text(str):
    """A text of a file or a command line, which may stand for a number or a list."""


def marked(value: Any) -> Any:
    """A value of a file, whose texts may stand for something else."""
    if isinstance(value, str):
        return Text(value)
    if isinstance(value, list):
        return list(map(marked, value))
    if isinstance(value, dict):
        return {name: marked(each) for name, each in value.items()}
    return value


def check_fields(value: object, whose: str) -> None:
    """Check the fields of a dataclass against their annotations, strictly.

    No text stands for a number, and no number for a truth value.

    Raises:
        ConfigError: a field has a value that it does not take.
    """
    _check(type(value), vars(value), f"{whose}.")


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Check the arguments of each call against their annotations, strictly.

    The call raises UnknownName for an argument that the function does not have, and
    ConfigError for a value that an argument does not take.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        _check(function, bound(function, args, kwargs))
        return function(*args, **kwargs)

    return call


def bound(
    function: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The arguments of a call by name.

    Raises:
        UnknownName: the function has no such argument.
        ConfigError: it lacks one, or has too many.
    """
    known = signature(function)
    UnknownName.check(f"argument of {function.__name__}", given, known.parameters)
    try:
        return known.bind(*args, **given).arguments
    except TypeError as error:
        raise ConfigError(f"{function.__name__}: {error}") from None


def field_types(kind: type[Any]) -> dict[str, Any]:
    """The annotations of a dataclass, by field, in order.

    Descriptors are left out, which check what they are given themselves.
    """
    hints = get_type_hints(kind, include_extras=True)
    found = {field.name: hints[field.name] for field in fields(kind)}
    return {name: hint for name, hint in found.items() if not hasattr(hint, "__set__")}


@cache
def _adapters(of: Any) -> Mapping[str, TypeAdapter[Any]]:
    """Pydantic's readers of the fields of a class, or of a function's arguments."""
    hints = field_types(of) if isinstance(of, type) else get_type_hints(of)
    hints.pop("return", None)
    return {
        name: TypeAdapter(_flat(hint), config=STRICT) for name, hint in hints.items()
    }


def _flat(hint: Any) -> Any:
    """A type in which `isinstance` checks dataclasses, which have checked themselves."""
    if is_dataclass(hint):
        return Annotated[Any, _Instance(hint)]
    if isinstance(hint, UnionType):
        return reduce(or_, map(_flat, get_args(hint)))
    if get_origin(hint) is Sequence:
        return Sequence[_flat(*get_args(hint))]  # type: ignore[misc]
    return hint


@dataclass(frozen=True)
class _Instance:
    """Marks a value that is an instance of a class."""

    kind: Any

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return is_instance_schema(self.kind)


def _check(of: Any, given: Mapping[str, Any], whose: str = "") -> None:
    for name, adapter in _adapters(of).items():
        if name in given:
            try:
                adapter.validate_python(given[name])
            except ValidationError as error:
                raise explained(error, whose + name) from None


def explained(error: ValidationError, whose: str) -> ConfigError:
    """Pydantic's error as one line: the field, the expected and the actual value."""
    problems = error.errors()
    wanted = " or ".join(dict.fromkeys(map(expected, problems)))
    first = problems[0]
    if first["type"] == "missing" and len(first["loc"]) == 1:
        field = f"{whose}.{first['loc'][0]}"
        return ConfigError(f"{field}: wanted {wanted}, got none; set {field}=VALUE")
    got = first["input"]

    # A whole configuration would fill the screen, and the message names what is wrong
    # with it.
    if isinstance(got, Mapping):
        return ConfigError(f"{whose}: wanted {wanted}")
    shown = shorten(repr(got), LONGEST, placeholder="...")
    return ConfigError(f"{whose}: wanted {wanted}, got {shown}")


def expected(problem: Mapping[str, Any]) -> str:
    """The value that a field wants, in the words of a message."""
    kind = problem["type"]
    got = problem["input"]
    limits = problem.get("ctx", {})
    units = "letters" if isinstance(got, str) else "values"
    if kind in {"string_too_short", "too_short"}:
        if got == "":
            return "some text"
        return f"{limits['min_length']} or more {units}"
    if kind in {"string_too_long", "too_long"}:
        return f"{limits['max_length']} {units} at most"
    if kind == "is_instance_of":
        return f"a {limits['class']}"

    message: str = problem["msg"]
    if kind == "predicate_failed":
        # Pydantic gives no more of a condition than the name of its function.
        predicate = message.split("'")[1]
        if predicate == "isfinite":
            return WANTED["finite_number"]
        return f"a value that passes {predicate}"
    if kind in WANTED:
        return WANTED[kind]
    return message.removeprefix("Value error, ").removeprefix("Input should be ")
