"""The tables of what probes decoded, beside their controls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.measure import Measure, Measures
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.reporting.claim import main_report
from gde.reporting.page.tables import Cell, Group, Row, Table, cell, pick
from gde.reporting.wording import CONTROLS, caveats, heading, labels_text, place_text


@dataclass(frozen=True, kw_only=True)
class ProbeTables:
    """One probe: a row for each fit, controls in groups of their own."""

    name: str
    headlines: Table
    rest: Table | None
    """All numbers of the probe, where there are more than the headlines."""


@dataclass(frozen=True)
class _Columns:
    """The columns of a probe's table."""

    headings: dict[str, str]
    """Key of a measurement, as of `_key`, to heading."""
    measures: tuple[Measure, ...]
    conditions: frozenset[str]

    @classmethod
    def of(
        cls, reports: Sequence[ProbeReport], conditions: frozenset[str], meanings: Measures, headlines: bool
    ) -> "_Columns":
        """The columns of all that the reports measured, or of the headlines alone where any are declared."""
        examples: dict[str, Measurement] = {}
        for report in reports:
            for one in _whole(report, conditions):
                examples.setdefault(_key(one, conditions), one)

        probe = reports[0].fit.probe
        names = {key: f"{probe}.{one.name}" for key, one in examples.items()}
        order = meanings.ordered(names.values())
        keys = sorted(names, key=lambda key: order.index(names[key]))
        if headlines:
            keys = [key for key in keys if meanings[names[key]].headline] or keys

        headings = {}
        for key in keys:
            one = examples[key]
            title, rest = meanings[names[key]].titled(one.where)
            headings[key] = heading(f"{title} {_without(rest, conditions)}".strip(), one.unit)
        return cls(headings, tuple(meanings[names[key]] for key in keys), conditions)

    def cells(self, measurements: Iterable[Measurement]) -> tuple[Cell, ...]:
        """A row."""
        return pick({_key(one, self.conditions): cell(one) for one in measurements}, self.headings)

    def note(self, reports: Sequence[ProbeReport]) -> str:
        """The caveats of the reports' numbers."""
        numbers = []
        for report in reports:
            numbers += [(measure, report.fit.where) for measure in self.measures]
        return " ".join(caveats(numbers))


def probe_tables(evidence: Evidence, conditions: frozenset[str], meanings: Measures) -> list[ProbeTables]:
    """The tables of every probe; `conditions` names the labels that their numbers are broken down by."""
    probes: dict[str, list[ProbeReport]] = {}
    for report in evidence.probe_reports:
        probes.setdefault(report.fit.probe, []).append(report)

    tables = []
    for name, reports in probes.items():
        first = _Columns.of(reports, conditions, meanings, headlines=True)
        every = _Columns.of(reports, conditions, meanings, headlines=False)
        rest = _table(reports, every) if len(every.headings) > len(first.headings) else None
        tables.append(ProbeTables(name=name, headlines=_table(reports, first), rest=rest))
    return tables


def probe_condition_table(evidence: Evidence, conditions: frozenset[str], meanings: Measures) -> Table | None:
    """The main fit's headlines by condition; None where it has none."""
    main = main_report(evidence.probe_reports)
    if main is None:
        return None
    by_condition: dict[str, list[Measurement]] = {}
    for one in main.measurements:
        condition = {key: value for key, value in one.where.items() if key in conditions}
        if condition:
            by_condition.setdefault(labels_text(condition), []).append(one)
    if not by_condition:
        return None

    columns = _Columns.of([main], conditions, meanings, headlines=True)
    rows = tuple(Row(head=condition, hint="", cells=columns.cells(found)) for condition, found in by_condition.items())
    titles = tuple(columns.headings.values())
    return Table(columns=titles, groups=(Group(title="", rows=rows),), note=columns.note([main]))


def _table(reports: Sequence[ProbeReport], columns: _Columns) -> Table:
    groups: dict[str, list[Row]] = {}
    for report in reports:
        control = report.fit.control
        if control == "none":
            title = "Decoded from the model"
            hint = f"fitted on {report.n_train} turns, tested on {report.n_test}"
        else:
            name, hint = CONTROLS[control]
            title = f"Control: {name}"
        cells = columns.cells(_whole(report, columns.conditions))
        row = Row(head=place_text(report.fit), hint=report.reason or hint, cells=cells)
        groups.setdefault(title, []).append(row)

    listed = tuple(Group(title=title, rows=tuple(rows)) for title, rows in groups.items())
    return Table(columns=tuple(columns.headings.values()), groups=listed, note=columns.note(reports))


def _whole(report: ProbeReport, conditions: frozenset[str]) -> list[Measurement]:
    """The measurements of a report over all conditions."""
    return [one for one in report.measurements if not conditions & one.where.keys()]


def _key(one: Measurement, conditions: frozenset[str]) -> str:
    """The name and labels of a measurement: those of one column are equal."""
    return f"{one.name} {_without(one.where, conditions)}".strip()


def _without(where: Labels, conditions: frozenset[str]) -> str:
    return labels_text({key: value for key, value in where.items() if key not in conditions})
