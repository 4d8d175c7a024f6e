"""Rows as a pandas frame."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gde.errors import MissingExtra

if TYPE_CHECKING:
    import pandas


def frame(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], whose: str
) -> "pandas.DataFrame":
    """A frame of the rows, in their order.

    Args:
        rows: column to value. They are read once and not kept.
        columns: the first columns, present even without rows. Others follow in the
            order of first appearance.
        whose: the name of the caller, for messages.

    Raises:
        MissingExtra: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtra(whose, ["pandas"], "frames") from None

    values: dict[str, list[Any]] = {name: [] for name in columns}
    for n, row in enumerate(rows):
        # A new column is empty in all earlier rows.
        for name in row:
            if name not in values:
                values[name] = [None] * n
        for name, column in values.items():
            column.append(row.get(name))
    return pandas.DataFrame(values)


def beside(
    extra: Mapping[str, Any], columns: Sequence[str], kind: str
) -> dict[str, Any]:
    """Values under their names; a name that is also a column becomes `kind.NAME`."""
    return {
        f"{kind}.{name}" if name in columns else name: value
        for name, value in extra.items()
    }
