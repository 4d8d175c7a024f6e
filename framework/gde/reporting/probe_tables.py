"""The tables of what probes decoded, beside their controls."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Labels
from gde.data.measure import Measure, Measures
from gde.data.probe import ProbeReport
from gde.data.result import Measurement
from gde.reporting.claim import main_report
from gde.reporting.tables import Cell, Group, Row, Table, cell, pick
from gde.reporting.wording import CONTROLS, caveats, heading, labels_text, place_text


@dataclass(frozen=True, kw_only=True)
class ProbeTables:
    """One probe: a row for each arm, controls apart."""

    name: str
    headlines: Table
    rest: Table | None
    """All that it measured, where the headlines are not all."""


@dataclass(frozen=True)
class _Columns:
    """What is shown of the arms of a probe: keys of measurements to headings."""

    headings: dict[str, str]
    measures: tuple[Measure, ...]
    strata: frozenset[str]

    @classmethod
    def of(
        cls, reports: Sequence[ProbeReport], strata: frozenset[str], meanings: Measures, headlines: bool
    ) -> "_Columns":
        """Of all that the reports measured, or of the headlines alone where any are declared."""
        probe = reports[0].arm.probe
        found: dict[str, tuple[str, Measurement]] = {}
        for report in reports:
            for one in _whole(report, strata):
                found.setdefault(_key(one, strata), (f"{probe}.{one.name}", one))
        places = {name: place for place, name in enumerate(meanings.ordered(name for name, _ in found.values()))}
        ordered = sorted(found.items(), key=lambda item: places[item[1][0]])
        every = {key: heading(_title(name, one, strata, meanings), one.unit) for key, (name, one) in ordered}
        chosen = {key: every[key] for key, (name, _) in ordered if meanings[name].headline}
        shown = chosen if headlines and chosen else every
        return cls(shown, tuple(meanings[found[key][0]] for key in shown), strata)

    def cells(self, measurements: Iterable[Measurement]) -> tuple[Cell, ...]:
        """A row."""
        return pick({_key(one, self.strata): cell(one) for one in measurements}, self.headings)

    def note(self, reports: Sequence[ProbeReport]) -> str:
        """What must be known of what some of the reports measured."""
        return " ".join(caveats((measure, report.arm.where) for report in reports for measure in self.measures))


def probe_tables(evidence: Evidence, strata: frozenset[str], meanings: Measures) -> list[ProbeTables]:
    """The tables of every probe; `strata` names the labels that their numbers are broken down by."""
    probes: dict[str, list[ProbeReport]] = {}
    for report in evidence.probe_reports:
        probes.setdefault(report.arm.probe, []).append(report)
    return [_tables(name, reports, strata, meanings) for name, reports in probes.items()]


def probe_stratum_table(evidence: Evidence, strata: frozenset[str], meanings: Measures) -> Table | None:
    """The main arm's headlines by stratum; None where it has none."""
    main = main_report(evidence.probe_reports)
    rows: dict[str, list[Measurement]] = {}
    for one in main.measurements if main else ():
        if strata & one.where.keys():
            stratum = {key: value for key, value in one.where.items() if key in strata}
            rows.setdefault(labels_text(stratum), []).append(one)
    if not main or not rows:
        return None
    columns = _Columns.of([main], strata, meanings, headlines=True)
    lines = tuple(Row(head=stratum, hint="", cells=columns.cells(found)) for stratum, found in rows.items())
    groups = (Group(title="", rows=lines),)
    return Table(columns=tuple(columns.headings.values()), groups=groups, note=columns.note([main]))


def _tables(name: str, reports: Sequence[ProbeReport], strata: frozenset[str], meanings: Measures) -> ProbeTables:
    first, every = (_Columns.of(reports, strata, meanings, headlines) for headlines in (True, False))
    rest = _table(reports, every) if len(every.headings) > len(first.headings) else None
    return ProbeTables(name=name, headlines=_table(reports, first), rest=rest)


def _table(reports: Sequence[ProbeReport], columns: _Columns) -> Table:
    groups: dict[str, list[Row]] = {}
    for report in reports:
        control = report.arm.control
        group = "Decoded from the model" if control == "none" else f"Control: {CONTROLS[control][0]}"
        groups.setdefault(group, []).append(_row(report, columns))
    listed = tuple(Group(title=title, rows=tuple(rows)) for title, rows in groups.items())
    return Table(columns=tuple(columns.headings.values()), groups=listed, note=columns.note(reports))


def _row(report: ProbeReport, columns: _Columns) -> Row:
    hint = f"fitted on {report.n_train} turns, tested on {report.n_test}"
    if report.arm.control != "none":
        hint = CONTROLS[report.arm.control][1]
    cells = columns.cells(_whole(report, columns.strata))
    return Row(head=place_text(report.arm), hint=report.reason or hint, cells=cells)


def _whole(report: ProbeReport, strata: frozenset[str]) -> list[Measurement]:
    return [one for one in report.measurements if not strata & one.where.keys()]


def _key(one: Measurement, strata: frozenset[str]) -> str:
    return " ".join([one.name, _restricted(one.where, strata)]).strip()


def _title(name: str, one: Measurement, strata: frozenset[str], meanings: Measures) -> str:
    title, rest = meanings[name].titled(one.where)
    return " ".join([title, _restricted(rest, strata)]).strip()


def _restricted(where: Labels, strata: frozenset[str]) -> str:
    return labels_text({key: value for key, value in where.items() if key not in strata})
