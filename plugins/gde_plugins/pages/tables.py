"""The tables of a report: all numbers by group, the headlines by condition, tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.evidence import Evidence
from gde.data.grouping import grouped
from gde.data.json import Json
from gde.data.measure import Measure, Question
from gde.data.result import Measurement, Result
from gde.reporting.findings import findings, of_metrics, whole
from gde.reporting.wording import (
    bounds,
    caveats,
    counted,
    labels_text,
    number,
    quantity,
    verdict_text,
)

ABSENT = "\u2013"
OTHERS = "Other measurements"
"""The heading of measures that declare no group."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number, or the reason why there is none."""

    text: str
    bounds: str = ""
    """The interval, or why there is none."""
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of a table."""

    head: str
    hint: str
    """Small print under the head."""
    cells: tuple[Cell, ...]
    link: str = ""
    """The page that the small print leads to."""


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
    """A number with its interval, or its reason; by default without the unit."""
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    return Cell(
        text=text(one.value, one.unit),
        bounds=bounds(one.interval, one.unit) or one.reason,
    )


def judged(one: Measurement, text: Callable[[float, str], str] = number) -> Cell:
    """As `cell`, with the test against the strongest control, if there is one."""
    shown = cell(one, text)
    if one.verdict is None or one.value is None:
        return shown
    return replace(shown, reason=verdict_text(one.verdict, one.unit))


def table(columns: tuple[str, ...], rows: Sequence[Row], note: str = "") -> Table:
    """A table whose rows have no groups."""
    group = Group(title="", rows=tuple(rows))
    return Table(columns=columns, groups=(group,), note=note)


def pick(cells: Mapping[str, Cell], keys: Iterable[str]) -> tuple[Cell, ...]:
    """The cells of some columns, with a dash where the row has none."""
    absent = Cell(text=ABSENT)
    return tuple(cells.get(key, absent) for key in keys)


@dataclass(frozen=True, kw_only=True)
class Answering:
    """A table of numbers that help to answer one question."""

    question: Question
    title: str
    table: Table


def condition_keys(evidence: Evidence) -> frozenset[str]:
    """The names of the labels that numbers may be broken down by."""
    return frozenset().union(*(one.labels for one in evidence.trajectories))


def provenance_rows(
    values: Mapping[str, Json], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Nested values as dotted names, in the given order."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from provenance_rows(value, f"{prefix}{name}.")
        elif value not in (None, ""):
            yield f"{prefix}{name}", str(value)


def group_tables(result: Result) -> list[Answering]:
    """The numbers of the whole run by group, without probes and tests."""
    groups: dict[str, list[tuple[Measure, Measurement]]] = {}
    for finding in findings(result):
        group = groups.setdefault(finding.measure.group or OTHERS, [])
        for one in finding.numbers:
            group.append((finding.measure, one))

    tables = []
    for title, numbers in groups.items():
        rows = [_number_row(measure, one) for measure, one in numbers]
        notes = caveats((measure, one.where) for measure, one in numbers)
        shown = table(("value", "n"), rows, " ".join(notes))
        question = numbers[0][0].question
        tables.append(Answering(question=question, title=title, table=shown))
    return tables


def _number_row(measure: Measure, one: Measurement) -> Row:
    title, rest = measure.titled(one.where)
    n = counted(one.n, one.clusters)
    return Row(
        head=title,
        hint=f"{one.name} {labels_text(rest)}".strip(),
        cells=(judged(one, quantity), Cell(text=n)),
    )


def tests_tables(result: Result) -> list[Answering]:
    """Tables of measures declared as columns, with a row for each test.

    A row is a thing tested, and where.
    """
    tests: dict[str, list[Measurement]] = {}
    for one in whole(of_metrics(result.measurements)):
        declared = result.meanings.declared(one.name)
        if declared is not None and declared.column:
            group = declared.group or OTHERS
            tests.setdefault(group, []).append(one)

    tables = []
    for title, found in tests.items():
        declared = result.meanings.declared(found[0].name)
        assert declared is not None
        tables.append(
            Answering(
                question=declared.question,
                title=title,
                table=_tests_table(found, result),
            )
        )
    return tables


def _tests_table(found: Sequence[Measurement], result: Result) -> Table:
    meanings = result.meanings
    by_name = grouped(found, lambda one: one.name)
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
    return table(tuple(columns.values()), rows)
