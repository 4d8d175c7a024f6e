"""The types of values that a journal holds and any language can read."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
else:
    # Pydantic cannot read a type that contains itself.
    Json = Any
Labels = Mapping[str, str | int | float | bool]

NONE = "none"
"""The label, and the setting, of an absent thing or variation."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a label is a number."""
    # True and False are whole numbers to Python.
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float)
