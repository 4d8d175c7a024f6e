"""Rows as a pandas frame."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gde.errors import MissingExtra

if TYPE_CHECKING:
    import pandas


def frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], whose: str) -> "pandas.DataFrame":
    """The rows one below the other.

    Args:
        rows: column to value; read once, and not kept.
        columns: those that are there first, and with no rows too. Others follow as the rows bring them.
        whose: what asks for it, for messages.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtra(whose, ["pandas"], "frames") from None
    values: dict[str, list[Any]] = {name: [] for name in columns}
    for n, row in enumerate(rows):
        for name in row:
            if name not in values:
                values[name] = [None] * n
        for name, column in values.items():
            column.append(row.get(name))
    return pandas.DataFrame(values)


def beside(extra: Mapping[str, Any], columns: Sequence[str], kind: str) -> dict[str, Any]:
    """Values with names of their own, those that are called like a column as `kind.NAME`."""
    return {f"{kind}.{name}" if name in columns else name: value for name, value in extra.items()}
