"""Why a value is none that a field takes, in words of users."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from gde.errors import ConfigError

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
    "tuple_type": "values with commas in between",
    "list_type": "values with commas in between",
    "dict_type": "a table",
    "mapping_type": "a table",
}
"""By the kind of the problem. Others say themselves what they want."""


def explained(error: ValidationError, whose: str) -> ConfigError:
    """Which, whose, wanted and got; a union wants one of several things."""
    problems = error.errors()
    wanted = " or ".join(dict.fromkeys(map(_wanted, problems)))
    first = problems[0]
    if first["type"] == "missing":
        field = f"{whose}.{first['loc'][0]}"
        return ConfigError(f"{field}: wanted {wanted}, got none; --set {field}=VALUE")
    got = first["input"]
    return ConfigError(f"{whose}: wanted {wanted}" + ("" if isinstance(got, Mapping) else f", got {got!r}"))


def within(error: ValidationError) -> bool:
    """Whether something was read as a list, and one of its values is what is wrong."""
    return any(isinstance(step, int) for problem in error.errors() for step in problem["loc"])


def _wanted(problem: Mapping[str, Any]) -> str:
    kind, limits = problem["type"], problem.get("ctx", {})
    if kind in {"string_too_short", "too_short"}:
        return f"{limits['min_length']} or more {_units(problem)}" if problem["input"] != "" else "some text"
    if kind in {"string_too_long", "too_long"}:
        return f"{limits['max_length']} {_units(problem)} at most"
    said: str = problem["msg"]
    if kind == "predicate_failed":
        return _passing(said.split("'")[1])
    return WANTED.get(kind) or said.removeprefix("Value error, ").removeprefix("Input should be ")


def _passing(predicate: str) -> str:
    """What a condition wants of a value, a function that pydantic tells by its name alone."""
    return WANTED["finite_number"] if predicate == "isfinite" else f"a value that passes {predicate}"


def _units(problem: Mapping[str, Any]) -> str:
    return "letters" if isinstance(problem["input"], str) else "values"
