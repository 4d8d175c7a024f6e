"""The tables of what probes decoded, beside their controls."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.grouping import grouped
from gde.data.measure import Measure, Measures
from gde.data.probe import ProbeReport
from gde.data.result import Identity, Measurement, Result
from gde.reporting.wording import CONTROLS, caveats, heading, labels_text, place_text
from gde_plugins.pages.tables import Cell, Group, Row, Table, cell, judged, pick


def probe_tables(
    evidence: Evidence, conditions: frozenset[str], result: Result
) -> list[tuple[str, Table]]:
    """Each probe with its table: a row for each fit, controls in groups of their own.

    Headlines have their tests, at each layer and position. `conditions` names the
    labels that numbers may be broken down by: such numbers are left out.
    """
    probes = grouped(evidence.probe_reports, lambda report: report.fit.probe)
    return [
        (name, _table(reports, conditions, result)) for name, reports in probes.items()
    ]


def _table(
    reports: Sequence[ProbeReport], conditions: frozenset[str], result: Result
) -> Table:
    # The numbers of a report have no tests: these belong to the result.
    known = {one.identity: one for one in result.measurements}
    examples: dict[str, Measurement] = {}
    groups: dict[str, list[tuple[ProbeReport, str, dict[str, Cell]]]] = {}
    for report in reports:
        cells = {}
        for one in report.measurements:
            if conditions.isdisjoint(one.where):
                key = f"{one.name} {labels_text(one.where)}".strip()
                examples.setdefault(key, one)
                tested = known.get(_in_result(one, report), one)
                # The test that a control has is of the number beside it.
                shown = judged if report.fit.control == "none" else cell
                cells[key] = shown(tested)

        title = "Decoded from the model"
        hint = f"fitted on {report.n_train} turns, tested on {report.n_test}"
        if report.fit.control != "none":
            name, hint = CONTROLS[report.fit.control]
            title = f"Control: {name}"
        groups.setdefault(title, []).append((report, report.reason or hint, cells))

    probe = reports[0].fit.probe
    columns, measures = _columns(probe, examples, result.meanings)
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


def _in_result(one: Measurement, report: ProbeReport) -> Identity:
    """The identity in the result of a number in a report."""
    where = {**report.fit.where, **one.where}
    return f"{report.fit.probe}.{one.name}", frozenset(where.items())


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
