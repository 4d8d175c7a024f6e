"""The statistical tests of a run: one row for each measurement and condition, one column for each statistic."""

from collections.abc import Mapping, Sequence

from gde.data.result import Measurement
from gde.shipped.reporters.tables import ABSENT, Cell, Group, Row, Table
from gde.shipped.reporters.wording import bounds, labels_text, number, title

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "pairs": {
        "difference": "difference from the twin",
        "rank_biserial": "effect (rank-biserial)",
        "p_permutation": "p, permutation",
        "p_wilcoxon": "p, Wilcoxon",
        "p_holm": "p, corrected (Holm)",
        "mde": "detectable difference",
    },
    "trends": {
        "spearman": "Spearman's rho",
        "spearman_p": "its p",
        "page_l_p": "p of Page's L",
        "slope": "slope",
        "slope_p": "its p",
    },
}
"""Kind of test to what is shown of it; the run folder has all."""


def tests_table(kind: str, measurements: Sequence[Measurement]) -> Table | None:
    """The tests of one kind; None where the run has none.

    Args:
        kind: a key of `COLUMNS`. Measurements are named KIND.MEASUREMENT.STATISTIC.
        measurements: of the whole run.
    """
    cells: dict[tuple[str, str], dict[str, Cell]] = {}
    for one in measurements:
        first, _, rest = one.name.partition(".")
        tested, _, statistic = rest.rpartition(".")
        if first == kind and statistic in COLUMNS[kind]:
            cells.setdefault((tested, labels_text(one.where)), {})[statistic] = _cell(one)
    if not cells:
        return None
    shown = [statistic for statistic in COLUMNS[kind] if any(statistic in row for row in cells.values())]
    rows = tuple(
        Row(head=title(tested), hint=place, cells=tuple(row.get(statistic, Cell(text=ABSENT)) for statistic in shown))
        for (tested, place), row in cells.items()
    )
    columns = tuple(COLUMNS[kind][statistic] for statistic in shown)
    return Table(columns=columns, groups=(Group(title="", rows=rows),))


def _cell(one: Measurement) -> Cell:
    if one.value is None:
        return Cell(text=ABSENT, reason=one.reason)
    if one.unit == "probability":
        return Cell(text="< 0.001" if one.value < 0.001 else f"{one.value:.3f}")
    unit = "%" if one.unit == "share" else ""
    return Cell(text=f"{number(one.value, one.unit)} {unit}".strip(), bounds=bounds(one.interval, one.unit))
