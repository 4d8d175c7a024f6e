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
from gde.reporting.wording import bounds, caveats, heading, labels_text, number, quantity

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
    """A number with its interval, or the reason why there is none; by default without its unit."""
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    return Cell(text=text(one.value, one.unit), bounds=bounds(one.interval, one.unit))


def pick(cells: Mapping[str, Cell], keys: Iterable[str]) -> tuple[Cell, ...]:
    """The cells of some columns, with a dash where the row has none."""
    return tuple(cells.get(key, Cell(text=ABSENT)) for key in keys)


def condition_keys(evidence: Evidence) -> frozenset[str]:
    """The names of the labels that numbers may be broken down by."""
    return frozenset(key for trajectory in evidence.trajectories for key in trajectory.labels)


def provenance_rows(values: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested values as dotted names, in the given order."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from provenance_rows(value, f"{prefix}{name}.")
        elif value not in (None, ""):
            yield f"{prefix}{name}", str(value)


def group_tables(result: Result, conditions: frozenset[str]) -> list[tuple[str, Table]]:
    """Heading and table of the numbers of the whole run, without probes, tests and what a figure shows."""
    shown = drawn(of_metrics(result), conditions)
    groups: dict[str, list[tuple[Measure, Measurement]]] = {}
    for one in findings(result):
        rows = [(one.measure, each) for each in one.numbers if (each.name, tuple(each.where)) not in shown]
        if rows:
            groups.setdefault(one.measure.group or OTHERS, []).extend(rows)
    return [(title, _numbers_table(rows)) for title, rows in groups.items()]


def _numbers_table(rows: Sequence[tuple[Measure, Measurement]]) -> Table:
    """A row for each number, with a picture where any is a share."""
    with_picture = any(_is_share(one) for _, one in rows)
    columns = ["value", "95 % interval", "n"]
    if with_picture:
        columns.insert(2, PICTURE)

    lines = []
    zeros = []
    for measure, one in rows:
        row = _number_row(measure, one, with_picture)
        lines.append(row)
        if one.value == 0:
            zeros.append(row)

    groups = (Group(title="", rows=tuple(_zeros_merged(lines, zeros))),)
    note = " ".join(caveats((measure, one.where) for measure, one in rows))
    return Table(columns=tuple(columns), groups=groups, note=note)


def _number_row(measure: Measure, one: Measurement, with_picture: bool) -> Row:
    value = Cell(text=ABSENT, reason=one.reason)
    if one.value is not None:
        value = Cell(text=quantity(one.value, one.unit))
    cells = [value]
    cells.append(Cell(text=bounds(one.interval, one.unit) or ABSENT))
    if with_picture:
        cells.append(Cell(text="", picture=Scale().picture(one) if _is_share(one) else ""))
    cells.append(Cell(text=str(one.n)))

    title, rest = measure.titled(one.where)
    return Row(head=title, hint=f"{one.name} {labels_text(rest)}".strip(), cells=tuple(cells))


def _zeros_merged(rows: Sequence[Row], zeros: Sequence[Row]) -> Iterator[Row]:
    """The rows; of many zeros with equal cells, one row with all their names."""
    merged: set[tuple[Cell, ...]] = set()
    for row in rows:
        alike = [other for other in zeros if other.cells == row.cells] if row in zeros else [row]
        if len(alike) < FEW:
            yield row
        elif row.cells not in merged:
            merged.add(row.cells)
            heads = "; ".join(other.head for other in alike)
            hints = ", ".join(other.hint for other in alike)
            yield Row(head=heads, hint=hints, cells=row.cells)


def _is_share(one: Measurement) -> bool:
    """Whether a number can be drawn between 0 and 100 %. Shares of a bound can be negative."""
    if one.value is None or one.unit != "share":
        return False
    return all(0 <= number <= 1 for number in (one.value, *(one.interval or ())))


def condition_table(result: Result, conditions: frozenset[str]) -> Table | None:
    """The headlines by condition; None without a sweep."""
    shown: dict[str, Finding] = {one.measure.name: one for one in headlines(result) if not one.numbers[0].where}
    cells: dict[str, dict[str, Cell]] = {}
    for one in result.measurements:
        if one.name in shown and one.where and one.where.keys() <= conditions:
            cells.setdefault(labels_text(one.where), {})[one.name] = cell(one)
    if not cells:
        return None

    columns: dict[str, str] = {}
    without_numbers: dict[str, str] = {}
    for name, finding in shown.items():
        column = [row[name] for row in cells.values() if name in row]
        if column:
            columns[name] = heading(finding.measure.titled({})[0], finding.numbers[0].unit)
        if column and all(each.reason for each in column):
            without_numbers[name] = column[0].reason

    # A column without any number becomes a note, unless all columns are such.
    kept = {name: title for name, title in columns.items() if name not in without_numbers}
    note = ""
    if kept and without_numbers:
        notes = [f"{columns[name]}: no number in any condition ({reason})" for name, reason in without_numbers.items()]
        note = "; ".join(notes) + "."
    kept = kept or columns
    rows = tuple(Row(head=condition, hint="", cells=pick(row, kept)) for condition, row in cells.items())
    return Table(columns=tuple(kept.values()), groups=(Group(title="", rows=rows),), note=note)


def tests_tables(result: Result) -> list[tuple[str, Table]]:
    """Heading and table of the measures declared as columns: a row for each thing tested, and where."""
    tests: dict[str, list[Measurement]] = {}
    for one in whole(of_metrics(result)):
        declared = result.meanings.declared(one.name)
        if declared is not None and declared.column:
            tests.setdefault(declared.group or OTHERS, []).append(one)
    return [(title, _tests_table(found, result)) for title, found in tests.items()]


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
        for one in by_name[name]:
            row = cells.setdefault((declared.rest(name), labels_text(one.where)), {})
            row[declared.name] = cell(one, quantity)

    rows = []
    for (tested, place), row in cells.items():
        title, _ = meanings[tested].titled({})
        rows.append(Row(head=title, hint=place, cells=pick(row, columns)))
    return Table(columns=tuple(columns.values()), groups=(Group(title="", rows=tuple(rows)),))
