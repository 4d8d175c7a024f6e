"""The tables of what an agent did: headlines, everything by group, the headlines by stratum, tests."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Json
from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.figures import drawn
from gde.reporting.findings import Finding, findings, headlines, of_metrics, whole
from gde.reporting.scales import Scale
from gde.reporting.wording import bounds, caveats, heading, labels_text, number, quantity

ABSENT = "\u2013"
OTHERS = "Other measurements"
"""The heading of what is declared under none."""
PICTURE = "0 to 100 %"
FEW = 3
"""So many rows of zero stand for themselves no more."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number, or the reason why there is none."""

    text: str
    bounds: str = ""
    reason: str = ""
    picture: str = ""
    """Inline SVG made by `pictures`."""


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
    """Without that of the row heads."""
    groups: tuple[Group, ...]
    note: str = ""
    """What is told beneath it instead of in rows or columns of their own."""


def group_tables(result: Result, strata: frozenset[str]) -> list[tuple[str, Table]]:
    """Heading and table of all numbers of the whole run but those of probes, of tests, and of what a figure shows."""
    shown = drawn(of_metrics(result), strata)
    groups: dict[str, list[tuple[Measure, Measurement]]] = {}
    for one in findings(result):
        rows = [(one.measure, each) for each in one.numbers if (each.name, tuple(each.where)) not in shown]
        if rows:
            groups.setdefault(one.measure.group or OTHERS, []).extend(rows)
    return [(title, _listed(rows)) for title, rows in groups.items()]


def stratum_table(result: Result, strata: frozenset[str]) -> Table | None:
    """The headlines by stratum; None without a sweep."""
    shown: dict[str, Finding] = {one.measure.name: one for one in headlines(result) if not one.numbers[0].where}
    cells: dict[str, dict[str, Cell]] = {}
    for one in result.measurements:
        if one.name in shown and one.where and one.where.keys() <= strata:
            cells.setdefault(labels_text(one.where), {})[one.name] = cell(one)
    if not cells:
        return None
    columns = {
        name: heading(one.measure.titled({})[0], one.numbers[0].unit)
        for name, one in shown.items()
        if any(name in row for row in cells.values())
    }
    void = {name: found for name in columns if (found := _void(row[name] for row in cells.values() if name in row))}
    kept = {name: title for name, title in columns.items() if name not in void} or columns
    rows = tuple(Row(head=stratum, hint="", cells=pick(row, kept)) for stratum, row in cells.items())
    note = "; ".join(f"{columns[name]}: no number in any stratum ({reason})" for name, reason in void.items())
    told = f"{note}." if kept is not columns and note else ""
    return Table(columns=tuple(kept.values()), groups=(Group(title="", rows=rows),), note=told)


def _void(cells: Iterable[Cell]) -> str:
    """The first reason of cells of which none has a number; empty where one has."""
    found = list(cells)
    return found[0].reason if all(one.reason for one in found) else ""


def tests_tables(result: Result) -> list[tuple[str, Table]]:
    """Heading and table of what is declared as columns: a row for each thing that is tested, and where."""
    tests: dict[str, list[Measurement]] = {}
    for one in whole(of_metrics(result)):
        declared = result.meanings.declared(one.name)
        if declared is not None and declared.column:
            tests.setdefault(declared.group or OTHERS, []).append(one)
    return [(title, _tests_table(found, result)) for title, found in tests.items()]


def provenance_rows(values: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Nested values as dotted names, in the order given."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from provenance_rows(value, f"{prefix}{name}.")
        elif value not in (None, ""):
            yield f"{prefix}{name}", str(value)


def stratum_keys(evidence: Evidence) -> frozenset[str]:
    """The label names that a breakdown can be by."""
    return frozenset(key for trajectory in evidence.trajectories for key in trajectory.labels)


def cell(one: Measurement, text: Callable[[float, str], str] = number) -> Cell:
    """A number with its interval, or the reason why there is none; by itself the unit is left to the heading."""
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    return Cell(text=text(one.value, one.unit), bounds=bounds(one.interval, one.unit))


def pick(cells: Mapping[str, Cell], keys: Iterable[str]) -> tuple[Cell, ...]:
    """The cells of some columns, of which a row need not have all."""
    return tuple(cells.get(key, Cell(text=ABSENT)) for key in keys)


def _listed(rows: Sequence[tuple[Measure, Measurement]]) -> Table:
    """One number a row, and a picture where any is a share."""
    with_picture = any(_is_share(one) for _, one in rows)
    columns = ("value", "95 % interval", *((PICTURE,) if with_picture else ()), "n")
    lines = [_row(measure, one, with_picture) for measure, one in rows]
    naught = [row for row, (_, one) in zip(lines, rows, strict=True) if one.value == 0]
    groups = (Group(title="", rows=(*_together(lines, naught),)),)
    note = " ".join(caveats((measure, one.where) for measure, one in rows))
    return Table(columns=columns, groups=groups, note=note)


def _together(rows: Sequence[Row], naught: Sequence[Row]) -> Iterator[Row]:
    """The rows, those of zero that are alike in everything but their heads as one."""
    told: set[tuple[Cell, ...]] = set()
    for row in rows:
        alike = [other for other in naught if other.cells == row.cells] if row in naught else [row]
        if len(alike) < FEW:
            yield row
        elif row.cells not in told:
            told.add(row.cells)
            names = ", ".join(other.hint for other in alike)
            yield Row(head="; ".join(other.head for other in alike), hint=names, cells=row.cells)


def _row(measure: Measure, one: Measurement, with_picture: bool) -> Row:
    value, picture = Cell(text=ABSENT, reason=one.reason), ""
    if one.value is not None:
        value = Cell(text=quantity(one.value, one.unit))
        picture = Scale().picture(one) if _is_share(one) else ""
    pictures = (Cell(text="", picture=picture),) if with_picture else ()
    cells = (value, Cell(text=bounds(one.interval, one.unit) or ABSENT), *pictures, Cell(text=str(one.n)))
    title, rest = measure.titled(one.where)
    return Row(head=title, hint=" ".join([one.name, labels_text(rest)]).strip(), cells=cells)


def _is_share(one: Measurement) -> bool:
    """Shares of a bound can be negative: they have no place between 0 and 100 %."""
    if one.value is None or one.unit != "share":
        return False
    return all(0 <= number <= 1 for number in (one.value, *(one.interval or ())))


def _tests_table(found: Sequence[Measurement], result: Result) -> Table:
    meanings = result.meanings
    rows: dict[tuple[str, str], dict[str, Cell]] = {}
    columns: dict[str, str] = {}
    for name in meanings.ordered(one.name for one in found):
        declared = meanings.declared(name) or meanings[name]
        columns[declared.name] = declared.title
        tested = declared.rest(name)
        for one in (one for one in found if one.name == name):
            rows.setdefault((tested, labels_text(one.where)), {})[declared.name] = cell(one, quantity)
    lines = tuple(
        Row(head=meanings[tested].titled({})[0], hint=place, cells=pick(found_there, columns))
        for (tested, place), found_there in rows.items()
    )
    return Table(columns=tuple(columns.values()), groups=(Group(title="", rows=lines),))
