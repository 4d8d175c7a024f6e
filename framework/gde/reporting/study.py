"""A reproduced study as one page: its figures, and its tables with the printed numbers, ours and the difference."""

from collections.abc import Iterator, Sequence

from gde.data.figure import Figure
from gde.data.result import Measurement
from gde.parts.reproduction import Comparison
from gde.reporting.drawing import picture
from gde.reporting.tables import ABSENT, Cell, Group, Row, Table
from gde.reporting.templates import template
from gde.reporting.wording import bounds, number, symbol


def study_page(
    name: str, rows: Sequence[Comparison], figures: Sequence[Figure], notices: Sequence[str], missing: str = ""
) -> str:
    """The page's HTML. Equal arguments give equal text.

    Args:
        name: of the study.
        rows: in the order of their tables.
        figures: to be drawn.
        notices: what every reader must be told of the models.
        missing: why there are no figures.
    """
    return template("study.html.j2").render(
        name=name,
        notices=notices,
        tables=list(comparison_tables(rows)),
        figures=[*map(picture, figures)],
        missing=missing,
    )


def comparison_tables(rows: Sequence[Comparison]) -> Iterator[tuple[str, Table]]:
    """Heading and table of all rows that stand under it, in the order in which headings first appear."""
    for heading in dict.fromkeys(row.table for row in rows):
        own = [row for row in rows if row.table == heading]
        rules = tuple(dict.fromkeys(rule for row in own for rule in row.others))
        lines = tuple(_row(row, rules) for row in own)
        yield (
            heading,
            Table(columns=("paper", "ours", "difference", *rules, "n"), groups=(Group(title="", rows=lines),)),
        )


def _row(row: Comparison, rules: Sequence[str]) -> Row:
    others = (_cell(row.others[rule]) if rule in row.others else Cell(text=ABSENT) for rule in rules)
    cells = (_printed(row), _cell(row.ours), _difference(row), *others, Cell(text=str(row.ours.n)))
    unit = symbol(row.ours.unit)
    return Row(head=f"{row.quantity}, {unit}" if unit else row.quantity, hint=row.source, cells=cells)


def _cell(one: Measurement) -> Cell:
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    return Cell(text=_text(one.value, one.unit), bounds=bounds(one.interval, one.unit))


def _printed(row: Comparison) -> Cell:
    return Cell(text=ABSENT if row.paper is None else _text(row.paper, row.ours.unit))


def _difference(row: Comparison) -> Cell:
    if row.difference is None:
        return Cell(text=ABSENT)
    return Cell(text=("+" if row.difference > 0 else "") + _text(row.difference, row.ours.unit))


def _text(value: float, unit: str) -> str:
    """Small numbers keep three digits that mean something."""
    return number(value, unit) if unit in {"share", "count"} or abs(value) >= 0.1 else f"{value:.3g}"
