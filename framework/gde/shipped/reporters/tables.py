"""The tables of a report: measurements, their breakdown by stratum, and probes beside their controls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from gde.data.evidence import Evidence
from gde.data.json import Json, Labels
from gde.data.probe import ProbeReport
from gde.data.result import Measurement, Result
from gde.shipped.reporters.claim import main_report
from gde.shipped.reporters.pictures import interval_picture
from gde.shipped.reporters.wording import CONTROLS, MARKS, bounds, heading, labels_text, number, quantity, title

ABSENT = "\u2013"
HEADLINES = (
    *("success", "accuracy", "policy.jsd", "policy.entropy", "efficiency.spl"),
    *("keys.pickup", "keys.attraction", "outcomes.ok", "length"),
)
"""Measurements that are broken down by stratum on the page; the run folder has all."""

MAP_COLUMNS = (
    *("top1.agent", "top1.goal", "distance.agent", "distance.goal", "accuracy.interior"),
    *("recall.agent", "recall.goal", "recall.wall", "recall.empty"),
)
"""What is shown of a probe that decodes maps; of other probes, everything."""


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


APART = ("pairs", "trends", "difficulty")
"""Families of measurements that `statistics` and `figures` show."""
BEHAVIOUR = "What the agent did"
GROUPS: Mapping[str, str] = {
    "outcomes": "What became of its answers (shares of turns)",
    "endings": "How episodes ended (shares of episodes)",
    "episodes": "How episodes ended (shares of episodes)",
    "policy": "Its policy, from several episodes in one world",
    "calibration": "Its policy, from several episodes in one world",
    "overlap": "Its policy, from several episodes in one world",
    "keys": "Keys and other objects",
    "exploration": "In fog",
    "recovery": "After the perturbation",
    "meg": "How goal-directed, and towards what (maximum-entropy goal-directedness)",
}
"""Family of measurements to the heading that it stands under, in their order; others stand under `BEHAVIOUR`."""


def measurement_table(result: Result, strata: Set[str]) -> Table:
    """All measurements of the whole run but those of probes and of tests, which have tables of their own."""
    whole = {one.name for one in result.measurements if not one.where}
    groups: dict[str, list[Row]] = {heading: [] for heading in (BEHAVIOUR, *GROUPS.values())}
    for one in result.measurements:
        family, of_stratum = one.name.split(".")[0], one.name in whole and strata & one.where.keys()
        if not of_stratum and "control" not in one.where and family not in APART:
            groups[GROUPS.get(family, BEHAVIOUR)].append(_measurement_row(one))
    return Table(columns=("value", "95 % interval", "0 to 100 %", "n"), groups=_groups(groups))


def stratum_table(result: Result, strata: Set[str]) -> Table | None:
    """The headline measurements by stratum; None without a sweep."""
    cells: dict[str, dict[str, Cell]] = {}
    for one in result.measurements:
        if one.name in HEADLINES and one.where and one.where.keys() <= strata:
            cells.setdefault(labels_text(one.where), {})[one.name] = _cell(one)
    if not cells:
        return None
    found = {one.name: heading(one.name, one.unit) for one in result.measurements}
    columns = {name: found[name] for name in HEADLINES if any(name in row for row in cells.values())}
    rows = tuple(Row(head=stratum, hint="", cells=_pick(row, columns)) for stratum, row in cells.items())
    return Table(columns=tuple(columns.values()), groups=(Group(title="", rows=rows),))


def probe_tables(evidence: Evidence, strata: Set[str]) -> tuple[tuple[str, Table], ...]:
    """Every probe's name and table: one row an arm, controls apart."""
    names = dict.fromkeys(report.arm.probe for report in evidence.probe_reports)
    return tuple((name, _probe_table(_reports(evidence, name), strata)) for name in names)


def probe_stratum_table(evidence: Evidence, strata: Set[str]) -> Table | None:
    """The main arm's numbers by stratum; None where it has none."""
    main = main_report(evidence.probe_reports)
    rows: dict[str, dict[str, Cell]] = {}
    for one in main.measurements if main else ():
        if strata & one.where.keys():
            stratum = {key: value for key, value in one.where.items() if key in strata}
            rows.setdefault(labels_text(stratum), {})[_key(one, strata)] = _cell(one)
    if not main or not rows:
        return None
    columns = _columns(_reports(evidence, main.arm.probe), strata)
    lines = tuple(Row(head=stratum, hint="", cells=_pick(row, columns)) for stratum, row in rows.items())
    return Table(columns=tuple(columns.values()), groups=(Group(title="", rows=lines),))


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


def _groups(groups: Mapping[str, Iterable[Row]]) -> tuple[Group, ...]:
    return tuple(Group(title=group, rows=tuple(rows)) for group, rows in groups.items() if rows)


def _measurement_row(one: Measurement) -> Row:
    value, picture = Cell(text=ABSENT, reason=one.reason), ""
    if one.value is not None:
        value = Cell(text=quantity(one.value, one.unit))
        picture = interval_picture(one.value, one.interval) if _is_share(one) else ""
    interval = Cell(text=bounds(one.interval, one.unit) or ABSENT)
    cells = (value, interval, Cell(text="", picture=picture), Cell(text=str(one.n)))
    return Row(head=title(one.name), hint=" ".join([one.name, labels_text(one.where)]).strip(), cells=cells)


def _is_share(one: Measurement) -> bool:
    """Shares of a bound can be negative: they have no place between 0 and 100 %."""
    return one.unit == "share" and all(0 <= number <= 1 for number in (one.value or 0.0, *(one.interval or ())))


def _cell(one: Measurement) -> Cell:
    """A number with its interval; the unit is in the column's heading."""
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    return Cell(text=number(one.value, one.unit), bounds=bounds(one.interval, one.unit))


def _reports(evidence: Evidence, probe: str) -> list[ProbeReport]:
    return [report for report in evidence.probe_reports if report.arm.probe == probe]


def _probe_table(reports: Sequence[ProbeReport], strata: Set[str]) -> Table:
    columns = _columns(reports, strata)
    groups: dict[str, list[Row]] = {}
    for report in reports:
        group = "Decoded from the model" if report.arm.control == "none" else "Controls"
        groups.setdefault(group, []).append(_probe_row(report, columns, strata))
    return Table(columns=tuple(columns.values()), groups=_groups(groups))


def _columns(reports: Iterable[ProbeReport], strata: Set[str]) -> dict[str, str]:
    """Key to heading of what is shown of a probe's measurements."""
    measured = [one for report in reports for one in report.measurements if not strata & one.where.keys()]
    found = {_key(one, strata): heading(_key(one, strata), one.unit) for one in measured}
    return {key: found[key] for key in MAP_COLUMNS if key in found} or found


def _key(one: Measurement, strata: Set[str]) -> str:
    rest: Labels = {key: value for key, value in one.where.items() if key not in strata}
    return " ".join([one.name, labels_text(rest)]).strip()


def _probe_row(report: ProbeReport, columns: Iterable[str], strata: Set[str]) -> Row:
    arm = report.arm
    found = {_key(one, strata): _cell(one) for one in report.measurements if not strata & one.where.keys()}
    head = f"{arm.variant}, layer {arm.layer}, {MARKS.get(arm.mark, arm.mark)}"
    hint = f"fitted on {report.n_train} turns, tested on {report.n_test}"
    if arm.control != "none":
        head, hint = CONTROLS[arm.control]
    return Row(head=head, hint=report.reason or hint, cells=_pick(found, columns))


def _pick(cells: Mapping[str, Cell], keys: Iterable[str]) -> tuple[Cell, ...]:
    return tuple(cells.get(key, Cell(text=ABSENT)) for key in keys)
