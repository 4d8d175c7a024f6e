"""The tables of what probes decoded, beside their controls."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.grouping import grouped
from gde.data.measure import Measure, Measures
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.reporting.wording import CONTROLS, caveats, heading, labels_text, place_text
from gde_plugins.pages.tables import Cell, Group, Row, Table, cell, pick


def probe_tables(
    evidence: Evidence,
    conditions: frozenset[str],
    meanings: Measures,
) -> list[tuple[str, Table]]:
    """Each probe with its table: a row for each fit, controls in groups of their own.

    `conditions` names the labels that numbers may be broken down by: such numbers are
    left out.
    """
    probes = grouped(evidence.probe_reports, lambda report: report.fit.probe)
    return [
        (name, _table(reports, conditions, meanings))
        for name, reports in probes.items()
    ]


def _table(
    reports: Sequence[ProbeReport], conditions: frozenset[str], meanings: Measures
) -> Table:
    examples: dict[str, Measurement] = {}
    groups: dict[str, list[tuple[ProbeReport, str, dict[str, Cell]]]] = {}
    for report in reports:
        cells = {}
        for one in report.measurements:
            if conditions.isdisjoint(one.where):
                key = f"{one.name} {labels_text(one.where)}".strip()
                examples.setdefault(key, one)
                cells[key] = cell(one)

        title = "Decoded from the model"
        hint = f"fitted on {report.n_train} turns, tested on {report.n_test}"
        if report.fit.control != "none":
            name, hint = CONTROLS[report.fit.control]
            title = f"Control: {name}"
        groups.setdefault(title, []).append((report, report.reason or hint, cells))

    columns, measures = _columns(reports[0].fit.probe, examples, meanings)
    made = []
    for title, fits in groups.items():
        rows = []
        for report, hint, cells in fits:
            head = place_text(report.fit)
            rows.append(Row(head=head, hint=hint, cells=pick(cells, columns)))
        made.append(Group(title=title, rows=tuple(rows)))

    numbers = []
    for report in reports:
        for measure in measures:
            numbers.append((measure, report.fit.where))
    return Table(
        columns=tuple(columns.values()),
        groups=tuple(made),
        note=" ".join(caveats(numbers)),
    )


def _columns(
    probe: str, examples: dict[str, Measurement], meanings: Measures
) -> tuple[dict[str, str], list[Measure]]:
    """Column headings by key, in the order of declaration, with their measures."""
    # Meanings are declared by full names, which begin with the name of the probe.
    names = {key: f"{probe}.{one.name}" for key, one in examples.items()}
    order = meanings.ordered(names.values())

    headings = {}
    measures = []
    for key in sorted(names, key=lambda key: order.index(names[key])):
        measure = meanings[names[key]]
        title, rest = measure.titled(examples[key].where)
        full_title = f"{title} {labels_text(rest)}".strip()
        headings[key] = heading(full_title, examples[key].unit)
        measures.append(measure)
    return headings, measures
