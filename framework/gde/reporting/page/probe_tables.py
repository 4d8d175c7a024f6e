"""The tables of what probes decoded, beside their controls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.measure import Measure, Measures
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.reporting.page.tables import Cell, Group, Row, Table, cell, pick
from gde.reporting.wording import CONTROLS, caveats, heading, labels_text, place_text


@dataclass(frozen=True)
class _Columns:
    """The columns of a probe's table."""

    headings: dict[str, str]
    """Key of a measurement, as of `_key`, to heading."""
    measures: tuple[Measure, ...]
    conditions: frozenset[str]

    @classmethod
    def of(
        cls,
        reports: Sequence[ProbeReport],
        conditions: frozenset[str],
        meanings: Measures,
    ) -> "_Columns":
        """The columns of all that the reports measured."""
        examples: dict[str, Measurement] = {}
        for report in reports:
            for one in _whole(report, conditions):
                examples.setdefault(_key(one, conditions), one)

        # Meanings are declared by full names, which begin with the name of the probe.
        probe = reports[0].fit.probe
        names = {}
        for key, one in examples.items():
            names[key] = f"{probe}.{one.name}"

        order = meanings.ordered(names.values())
        keys = sorted(names, key=lambda key: order.index(names[key]))

        headings = {}
        measures = []
        for key in keys:
            one = examples[key]
            measure = meanings[names[key]]
            title, rest = measure.titled(one.where)
            full_title = f"{title} {_without(rest, conditions)}".strip()
            headings[key] = heading(full_title, one.unit)
            measures.append(measure)
        return cls(headings, tuple(measures), conditions)

    def cells(self, measurements: Iterable[Measurement]) -> tuple[Cell, ...]:
        """A row."""
        cells = {}
        for one in measurements:
            cells[_key(one, self.conditions)] = cell(one)
        return pick(cells, self.headings)

    def note(self, reports: Sequence[ProbeReport]) -> str:
        """The caveats of the reports' numbers."""
        numbers = []
        for report in reports:
            for measure in self.measures:
                numbers.append((measure, report.fit.where))
        return " ".join(caveats(numbers))


def probe_tables(
    evidence: Evidence,
    conditions: frozenset[str],
    meanings: Measures,
) -> list[tuple[str, Table]]:
    """Each probe with its table: a row for each fit, controls in groups of their own.

    `conditions` names the labels that numbers may be broken down by.
    """
    probes: dict[str, list[ProbeReport]] = {}
    for report in evidence.probe_reports:
        probes.setdefault(report.fit.probe, []).append(report)

    tables = []
    for name, reports in probes.items():
        columns = _Columns.of(reports, conditions, meanings)
        tables.append((name, _table(reports, columns)))
    return tables


def _table(reports: Sequence[ProbeReport], columns: _Columns) -> Table:
    by_title: dict[str, list[Row]] = {}
    for report in reports:
        control = report.fit.control
        if control == "none":
            title = "Decoded from the model"
            hint = f"fitted on {report.n_train} turns, tested on {report.n_test}"
        else:
            name, hint = CONTROLS[control]
            title = f"Control: {name}"

        row = Row(
            head=place_text(report.fit),
            hint=report.reason or hint,
            cells=columns.cells(_whole(report, columns.conditions)),
        )
        by_title.setdefault(title, []).append(row)

    groups = []
    for title, rows in by_title.items():
        groups.append(Group(title=title, rows=tuple(rows)))
    return Table(
        columns=tuple(columns.headings.values()),
        groups=tuple(groups),
        note=columns.note(reports),
    )


def _whole(report: ProbeReport, conditions: frozenset[str]) -> list[Measurement]:
    """The measurements of a report over all conditions."""
    return [one for one in report.measurements if conditions.isdisjoint(one.where)]


def _key(one: Measurement, conditions: frozenset[str]) -> str:
    """The name and labels of a measurement: those of one column are equal."""
    labels = _without(one.where, conditions)
    return f"{one.name} {labels}".strip()


def _without(where: Labels, conditions: frozenset[str]) -> str:
    others = {key: value for key, value in where.items() if key not in conditions}
    return labels_text(others)
