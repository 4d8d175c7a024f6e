"""The headlines of probes in two runs, as the terminal and the pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.comparisons.differences import ProbeRow
from gde.data.grouping import grouped
from gde.data.probe import Fit
from gde.data.result import Measurement
from gde.reporting.wording import (
    bounds,
    difference_quantity,
    outcome_text,
    place_text,
    verdict_text,
)


@dataclass(frozen=True, kw_only=True)
class ProbeTable:
    """The headlines of one fit in both runs."""

    probe: str
    title: str
    """The probe with its fit, or with those of both runs if they differ."""
    rows: tuple[ProbeRow, ...]


def probe_tables(rows: Sequence[ProbeRow]) -> list[ProbeTable]:
    """A table for each fit; the main one of a probe is the first of its probe."""
    by_title = grouped(rows, lambda row: (row.a.source, _title(row)))
    return [
        ProbeTable(probe=probe, title=title, rows=tuple(own))
        for (probe, title), own in by_title.items()
    ]


def _title(row: ProbeRow) -> str:
    fit_a = Fit.of(row.a)
    fit_b = Fit.of(row.b)
    assert fit_a is not None and fit_b is not None
    place = place_text(fit_a)
    if fit_a != fit_b:
        place = f"A: {place}; B: {place_text(fit_b)}"
    return f"{fit_a.probe} ({place})"


def against_control(one: Measurement) -> str:
    """The verdict of a run's own number against its strongest control."""
    if one.verdict is None:
        return "no control was tested"
    return verdict_text(one.verdict, one.unit)


def against_first(row: ProbeRow) -> str:
    """The verdict of B against A; empty without scores of turns."""
    if row.between is None:
        return ""
    return outcome_text(row.between, row.between.control, row.a.unit)


def difference(row: ProbeRow) -> str:
    """B minus A with its sign and interval; empty without a test."""
    one = row.between
    if one is None or one.p is None:
        return ""
    size = difference_quantity(one.difference, row.a.unit)
    sign = "+" if one.difference > 0 else ""
    return f"{sign}{size} {bounds(one.interval, row.a.unit)}".strip()
