"""The values that a journal can hold and a reader in any language can read."""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
Labels = Mapping[str, str | int | float | bool]


NONE = "none"
"""The label, and the setting, of what is not there or varies nothing."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a label is a number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
