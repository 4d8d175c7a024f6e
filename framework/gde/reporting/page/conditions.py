"""The numbers by condition: tables, and heat maps where two or three settings are
swept.
"""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.figures.maps import heat_map, panels
from gde.reporting.findings import headlines, probed, swept
from gde.reporting.page.probe_tables import probe_condition_table
from gde.reporting.page.tables import Table, condition_table

MAPS = {2: heat_map, 3: panels}
"""What draws a map, by the number of settings."""
SHOWN = 2
"""Numbers of one headline with a map, as on the cards."""
Whole = tuple[Measure, Measurement]
"""A measure, and its number in the whole run."""


def condition_maps(result: Result) -> list[Figure]:
    """Maps of the headlines of the run and of the main probe that differ between
    conditions; none unless two or three settings are swept.
    """
    settings = frozenset(swept(result))
    draw = MAPS.get(len(settings))
    if draw is None:
        return []

    figures = []
    for measure, one in _headline_numbers(result):
        cells = _cells(one, result, settings)
        if _differs(cells):
            title, _ = measure.titled(one.where)
            figures.append(draw(title, _axes(cells, settings), cells))
    return figures


def condition_tables(
    result: Result,
    evidence: Evidence,
    conditions: frozenset[str],
) -> list[tuple[str, Table]]:
    """Caption and table of the headlines of the agent and of the first probe by
    condition; none without a sweep.
    """
    tables = []
    headlines_table = condition_table(result, conditions)
    if headlines_table is not None:
        tables.append(
            ("The headlines by condition, with 95 % intervals.", headlines_table)
        )

    probe_table = probe_condition_table(evidence, conditions, result.meanings)
    if probe_table is not None:
        tables.append(("The first probe above, by condition.", probe_table))
    return tables


def _headline_numbers(result: Result) -> list[Whole]:
    numbers: list[Whole] = []
    for finding in headlines(result):
        for one in finding.numbers[:SHOWN]:
            numbers.append((finding.measure, one))
    for probe in probed(result)[:1]:
        for beside in probe.numbers:
            numbers.append((beside.measure, beside.ours))
    return numbers


def _cells(
    whole: Measurement, result: Result, settings: frozenset[str]
) -> list[Measurement]:
    """The number in each condition where it has a value."""
    keys = whole.where.keys() | settings
    cells = []
    for one in result.measurements:
        if one.name != whole.name or one.value is None:
            continue
        keeps_labels = one.where.items() >= whole.where.items()
        if keeps_labels and one.where.keys() == keys:
            cells.append(one)
    return cells


def _axes(cells: Sequence[Measurement], settings: frozenset[str]) -> list[str]:
    """The settings as rows, columns and panels: most values as columns, fewest as
    panels.
    """
    counts = {}
    # Sorted first, because sets have no order: equal counts would give another map in
    # every process.
    for key in sorted(settings, reverse=True):
        values = {one.where[key] for one in cells}
        counts[key] = len(values)

    *others, row, column = sorted(counts, key=counts.__getitem__)
    return [row, column, *others]


def _differs(cells: Sequence[Measurement]) -> bool:
    values = {one.value for one in cells}
    return len(values) > 1
