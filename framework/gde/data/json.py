"""The values that a journal can hold and a reader in any language can read."""

from collections.abc import Mapping, Sequence

Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]
Labels = Mapping[str, str | int | float | bool]
