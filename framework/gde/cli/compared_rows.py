"""A row of a comparison in the terminal."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gde.comparisons.differences import Row

COLUMNS = ("measurement", "A", "B", "B - A", "95 % interval", "p (Holm)")
"""They fit into 80 columns of a terminal; `--json` has all numbers."""


def cells(row: "Row") -> tuple[str, ...]:
    """The cells of a row, in the order of `COLUMNS`."""
    from gde.reporting.contest import CLEAR
    from gde.reporting.wording import bounds, heading, number

    p = row.reason.removeprefix("not measured: ")
    if row.p is not None:
        p = probability(row.p)
        if row.p >= CLEAR and row.mde is not None:
            p = f"{p} ({number(row.mde, row.unit)} would show)"
    sign = "+" if row.difference > 0 else ""
    return (
        heading(row.title, row.unit),
        number(row.a, row.unit),
        number(row.b, row.unit),
        f"{sign}{number(row.difference, row.unit)}",
        bounds(row.interval, row.unit),
        p,
    )


def probability(value: float) -> str:
    """A p value with four decimals."""
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
