"""Rows as columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gde.errors import needing

if TYPE_CHECKING:
    import pandas


class Table(dict[str, list[Any]]):
    """Columns of equal length, by name.

    `pandas.DataFrame(table)`, `polars.DataFrame(table)` and `pyarrow.table(table)` take
    it as it is. An absent value is None.
    """

    @classmethod
    def of(
        cls, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()
    ) -> "Table":
        """The columns of rows, in their order.

        Args:
            rows: column to value. They are read once and not kept.
            columns: the first columns, present even without rows. Others follow in the
                order of first appearance.
        """
        table = cls({name: [] for name in columns})
        for n, row in enumerate(rows):
            # A new column is empty in all earlier rows.
            for name in row:
                if name not in table:
                    table[name] = [None] * n
            for name, column in table.items():
                column.append(row.get(name))
        return table

    def __repr__(self) -> str:
        return f"Table({self.n_rows} rows: {', '.join(self)})"

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.values()), ()))

    def rows(self, places: Iterable[int]) -> "Table":
        """The rows at these places, in this order."""
        chosen = [*places]
        return Table({name: [c[i] for i in chosen] for name, c in self.items()})

    def to_pandas(self, whose: str = "to_pandas") -> "pandas.DataFrame":
        """A frame; `whose` is the name of the caller, for messages.

        Raises:
            MissingExtra: pandas is not installed.
        """
        with needing(whose, "pandas", "frames"):
            import pandas
        return pandas.DataFrame(self)


def beside(
    extra: Mapping[str, Any], columns: Sequence[str], kind: str
) -> dict[str, Any]:
    """Values under their names; a name that is also a column becomes `kind.NAME`."""
    return {
        f"{kind}.{name}" if name in columns else name: value
        for name, value in extra.items()
    }
