"""Two runs in one figure: the second beside the first, by the test of their difference."""

from dataclasses import replace
from math import isclose

from gde.comparisons.comparison import Comparison
from gde.comparisons.differences import ProbeRow
from gde.comparisons.differences import Row as Difference
from gde.data.measure import Measure
from gde.data.result import Measurement
from gde.reporting.contest import Contended, contended
from gde.reporting.findings import Beside
from gde.reporting.forest import TITLES, Group, Row, on_axes, row_of
from gde.reporting.probe_differences import probe_tables
from gde.reporting.wording import size_text


def pair_groups(found: Comparison) -> list[Group]:
    """The headlines of two runs, in groups as those of a run; the control is the first.

    Args:
        found: two runs that were compared.
    """
    [compared] = found.compared
    first, second = found.pair(compared)
    headlines = {one.measure.name: one for one in contended(found)}
    groups: list[Group] = []
    for question, title in TITLES.items():
        rows = [
            _of_worlds(row, headlines[row.name], first, second)
            for row in compared.rows
            if not row.where
            and row.name in headlines
            and headlines[row.name].measure.question == question
        ]
        groups += on_axes(question, title, rows)

    main: set[str] = set()
    for table in probe_tables(compared.probes):
        if table.probe not in main:
            main.add(table.probe)
            read = [_of_probe(row, first) for row in table.rows]
            groups += on_axes("believes", f"Read by {table.title}", read)
    return groups


def _of_worlds(row: Difference, of: Contended, first: str, second: str) -> Row:
    theirs = _over_shared(row.a, row, of.numbers[first])
    ours = _over_shared(row.b, row, of.numbers[second])
    rival = replace(theirs, verdict=row.verdict(first))
    beside = Beside(measure=of.measure, ours=ours, control=first, rival=rival)
    return _row(row.title, beside)


def _over_shared(value: float, row: Difference, own: Measurement | None) -> Measurement:
    """The number of a run over the shared worlds, with its interval if these are all."""
    if own is not None and own.value is not None and isclose(own.value, value):
        return replace(own, value=value, verdict=None)
    return Measurement(
        name=row.name, value=value, unit=row.unit, n=row.n, clusters=row.clusters
    )


def _of_probe(row: ProbeRow, first: str) -> Row:
    beside = Beside(
        measure=Measure(row.name, row.title, row.a.unit, row.better),
        ours=replace(row.b, verdict=None),
        control=first,
        rival=replace(row.a, verdict=row.between),
    )
    return _row(row.title, beside)


def _row(title: str, beside: Beside) -> Row:
    """A row with the size of the difference, where one is shown."""
    row = row_of(title.replace(" early", ", few worlds"), beside)
    verdict = beside.verdict
    if verdict is None or beside.outcome in ("none", "untested"):
        return row
    return replace(row, by=f"by {size_text(verdict, beside.ours.unit)}")
