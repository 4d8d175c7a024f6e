"""The numbers by condition: tables, and heat maps for two or three settings."""

from collections.abc import Sequence

from gde.data.figure import Figure
from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.findings import headlines, probed, swept
from gde.reporting.wording import heading, labels_text
from gde_plugins.pages.figures.maps import heat_map
from gde_plugins.pages.tables import Cell, Row, Table, judged, pick, table

MAPPED = (2, 3)
"""Numbers of settings that make a map."""
SHOWN = 2
"""Numbers of one headline with a map, as on the cards."""
ROWS = 200
"""Rows of the table by condition."""
Whole = tuple[Measure, Measurement]
"""A measure, and its number in the whole run."""


def condition_maps(result: Result) -> list[Figure]:
    """Maps of the headlines that differ between conditions.

    Headlines are of the run and of the main probe. There are no maps unless two or
    three settings are swept.
    """
    settings = frozenset(swept(result))
    if len(settings) not in MAPPED:
        return []

    figures = []
    for measure, one in _headline_numbers(result):
        cells = []
        for part in _parts(one, result):
            is_condition = part.where.keys() == one.where.keys() | settings
            if is_condition and part.value is not None:
                cells.append(part)
        if len({part.value for part in cells}) > 1:
            title, _ = measure.titled(one.where)
            figures.append(heat_map(title, _axes(cells, settings), cells))
    return figures


def condition_table(result: Result, conditions: frozenset[str]) -> Table | None:
    """The headlines by condition, of run and main probe; None without a sweep.

    Args:
        result: the result.
        conditions: the names of the labels that tell conditions apart.
    """
    columns: dict[str, str] = {}
    cells: dict[str, dict[str, Cell]] = {}
    for measure, one in _headline_numbers(result):
        title, _ = measure.titled(one.where)
        for part in _parts(one, result):
            labels = {
                key: value for key, value in part.where.items() if key not in one.where
            }
            if labels.keys() <= conditions:
                columns[title] = heading(title, part.unit)
                row = cells.setdefault(labels_text(labels), {})
                row[title] = judged(part)
    if not cells:
        return None

    rows = []
    for condition, row in cells.items():
        rows.append(Row(head=condition, hint="", cells=pick(row, columns)))
    note = ""
    if len(rows) > ROWS:
        note = f"The first {ROWS} of {len(rows)} rows; result.json has all."
    return table(tuple(columns.values()), rows[:ROWS], note)


def _headline_numbers(result: Result) -> list[Whole]:
    numbers: list[Whole] = []
    for finding in headlines(result):
        for one in finding.numbers[:SHOWN]:
            numbers.append((finding.measure, one))
    for probe in probed(result)[:1]:
        for beside in probe.numbers:
            numbers.append((beside.measure, beside.ours))
    return numbers


def _parts(whole: Measurement, result: Result) -> list[Measurement]:
    """The numbers of parts of the run: those with further labels."""
    parts = []
    for one in result.measurements:
        if one.name == whole.name and one.where.items() > whole.where.items():
            parts.append(one)
    return parts


def _axes(cells: Sequence[Measurement], settings: frozenset[str]) -> list[str]:
    """The settings as axes: most values as columns, fewest as panels.

    Those between are rows.
    """
    counts = {}
    # Sorted first, because sets have no order: equal counts would give another map in
    # every process.
    for key in sorted(settings, reverse=True):
        values = {one.where[key] for one in cells}
        counts[key] = len(values)

    *others, row, column = sorted(counts, key=counts.__getitem__)
    return [row, column, *others]
