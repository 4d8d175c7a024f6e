"""The tables of a report: all numbers by group, the headlines by condition, tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.figures.breakdowns import drawn
from gde.reporting.figures.scales import Scale
from gde.reporting.findings import Finding, findings, headlines, of_metrics, whole
from gde.reporting.wording import (
    bounds,
    caveats,
    heading,
    labels_text,
    number,
    quantity,
)

ABSENT = "\u2013"
OTHERS = "Other measurements"
"""The heading of measures that declare no group."""
PICTURE = "0 to 100 %"
FEW = 3
"""From this many on, equal rows of zero are shown as one."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number, or the reason why there is none."""

    text: str
    bounds: str = ""
    reason: str = ""
    picture: str = ""
    """Inline SVG made by this package."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table."""

    head: str
    hint: str
    """Small print under the head."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows under a common heading; an empty title for none."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table as the page shows it."""

    columns: tuple[str, ...]
    """Titles, without that of the row heads."""
    groups: tuple[Group, ...]
    note: str = ""
    """Text beneath the table."""


def cell(one: Measurement, text: Callable[[float, str], str] = number) -> Cell:
    """A number with its interval, or the reason why there is none; by default without
    its unit.
    """
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    return Cell(
        text=text(one.value, one.unit),
        bounds=bounds(one.interval, one.unit),
    )


def pick(cells: Mapping[str, Cell], keys: Iterable[str]) -> tuple[Cell, ...]:
    """The cells of some columns, with a dash where the row has none."""
    absent = Cell(text=ABSENT)
    return tuple(cells.get(key, absent) for key in keys)


def condition_keys(evidence: Evidence) -> frozenset[str]:
    """The names of the labels that numbers may be broken down by."""
    keys: set[str] = set()
    for trajectory in evidence.trajectories:
        keys.update(trajectory.labels)
    return frozenset(keys)


def provenance_rows(
    values: Mapping[str, Json], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Nested values as dotted names, in the given order."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from provenance_rows(value, f"{prefix}{name}.")
        elif value not in (None, ""):
            yield f"{prefix}{name}", str(value)


def group_tables(result: Result, conditions: frozenset[str]) -> list[tuple[str, Table]]:
    """Heading and table of the numbers of the whole run, without probes, tests and what
    a figure shows.
    """
    shown = drawn(of_metrics(result), conditions)
    groups: dict[str, list[tuple[Measure, Measurement]]] = {}
    for finding in findings(result):
        heading_of_group = finding.measure.group or OTHERS
        for one in finding.numbers:
            breakdown = (one.name, tuple(one.where))
            if breakdown not in shown:
                groups.setdefault(heading_of_group, []).append((finding.measure, one))

    tables = []
    for title, rows in groups.items():
        tables.append((title, _numbers_table(rows)))
    return tables


def _numbers_table(rows: Sequence[tuple[Measure, Measurement]]) -> Table:
    """A row for each number, with a picture where any is a share."""
    with_picture = any(_is_share(one) for _, one in rows)
    columns = ["value", "95 % interval", "n"]
    if with_picture:
        columns.insert(2, PICTURE)

    lines = []
    zeros = []
    labelled = []
    for measure, one in rows:
        row = _number_row(measure, one, with_picture)
        lines.append(row)
        if one.value == 0:
            zeros.append(row)
        labelled.append((measure, one.where))

    merged = tuple(_zeros_merged(lines, zeros))
    return Table(
        columns=tuple(columns),
        groups=(Group(title="", rows=merged),),
        note=" ".join(caveats(labelled)),
    )


def _number_row(measure: Measure, one: Measurement, with_picture: bool) -> Row:
    value = Cell(text=ABSENT, reason=one.reason)
    if one.value is not None:
        value = Cell(text=quantity(one.value, one.unit))
    interval = bounds(one.interval, one.unit) or ABSENT
    cells = [value, Cell(text=interval)]

    # The column stays empty for numbers that are no shares, so that all rows have
    # equally many cells.
    if with_picture:
        picture = Scale().picture(one) if _is_share(one) else ""
        cells.append(Cell(text="", picture=picture))
    cells.append(Cell(text=str(one.n)))

    title, rest = measure.titled(one.where)
    hint = f"{one.name} {labels_text(rest)}".strip()
    return Row(head=title, hint=hint, cells=tuple(cells))


def _zeros_merged(rows: Sequence[Row], zeros: Sequence[Row]) -> Iterator[Row]:
    """The rows; of many zeros with equal cells, one row with all their names."""
    merged: set[tuple[Cell, ...]] = set()
    for row in rows:
        if row not in zeros:
            yield row
            continue

        alike = [other for other in zeros if other.cells == row.cells]
        if len(alike) < FEW:
            yield row
            continue

        # The first of the equal rows stands for all of them.
        if row.cells not in merged:
            merged.add(row.cells)
            heads = "; ".join(other.head for other in alike)
            hints = ", ".join(other.hint for other in alike)
            yield Row(head=heads, hint=hints, cells=row.cells)


def _is_share(one: Measurement) -> bool:
    """Whether a number can be drawn between 0 and 100 %. Shares of a bound can be
    negative.
    """
    if one.value is None or one.unit != "share":
        return False
    numbers: list[float] = [one.value, *(one.interval or ())]
    return min(numbers) >= 0 and max(numbers) <= 1


def condition_table(result: Result, conditions: frozenset[str]) -> Table | None:
    """The headlines by condition; None without a sweep."""
    shown: dict[str, Finding] = {}
    for finding in headlines(result):
        # A headline with labels ranks rivals: it has no single number in a condition.
        if not finding.numbers[0].where:
            shown[finding.measure.name] = finding

    cells: dict[str, dict[str, Cell]] = {}
    for one in result.measurements:
        if one.name in shown and one.where and one.where.keys() <= conditions:
            row = cells.setdefault(labels_text(one.where), {})
            row[one.name] = cell(one)
    if not cells:
        return None

    titles, notes = _condition_columns(shown, list(cells.values()))
    rows = []
    for condition, row in cells.items():
        rows.append(Row(head=condition, hint="", cells=pick(row, titles)))
    return Table(
        columns=tuple(titles.values()),
        groups=(Group(title="", rows=tuple(rows)),),
        note="; ".join(notes) + "." if notes else "",
    )


def _condition_columns(
    shown: Mapping[str, Finding],
    rows: Sequence[Mapping[str, Cell]],
) -> tuple[dict[str, str], list[str]]:
    """The titles of the columns by measure, and a note on each measure that has no
    number in any condition.
    """
    titles: dict[str, str] = {}
    empty: dict[str, str] = {}
    notes = []
    for name, finding in shown.items():
        column = [row[name] for row in rows if name in row]
        if not column:
            continue

        title, _ = finding.measure.titled({})
        full_title = heading(title, finding.numbers[0].unit)
        if all(each.reason for each in column):
            empty[name] = full_title
            notes.append(
                f"{full_title}: no number in any condition ({column[0].reason})"
            )
        else:
            titles[name] = full_title

    # A table needs a column: without any number the empty ones stay and give their
    # reasons.
    if not titles:
        return empty, []
    return titles, notes


def tests_tables(result: Result) -> list[tuple[str, Table]]:
    """Heading and table of the measures declared as columns: a row for each thing
    tested, and where.
    """
    tests: dict[str, list[Measurement]] = {}
    for one in whole(of_metrics(result)):
        declared = result.meanings.declared(one.name)
        if declared is not None and declared.column:
            group = declared.group or OTHERS
            tests.setdefault(group, []).append(one)

    tables = []
    for title, found in tests.items():
        tables.append((title, _tests_table(found, result)))
    return tables


def _tests_table(found: Sequence[Measurement], result: Result) -> Table:
    meanings = result.meanings
    by_name: dict[str, list[Measurement]] = {}
    for one in found:
        by_name.setdefault(one.name, []).append(one)

    columns: dict[str, str] = {}
    cells: dict[tuple[str, str], dict[str, Cell]] = {}
    for name in meanings.ordered(by_name):
        declared = meanings.declared(name) or meanings[name]
        columns[declared.name] = declared.title
        tested = declared.rest(name)
        for one in by_name[name]:
            place = labels_text(one.where)
            row = cells.setdefault((tested, place), {})
            row[declared.name] = cell(one, quantity)

    rows = []
    for (tested, place), row in cells.items():
        title, _ = meanings[tested].titled({})
        rows.append(Row(head=title, hint=place, cells=pick(row, columns)))
    return Table(
        columns=tuple(columns.values()),
        groups=(Group(title="", rows=tuple(rows)),),
    )
