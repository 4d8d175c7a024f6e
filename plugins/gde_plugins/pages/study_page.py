"""The page of a reproduced study: its figures, and the printed numbers beside ours."""

from collections.abc import Mapping, Sequence

from gde.data.grouping import grouped
from gde.parts.reproduction import Comparison
from gde.reporting.asked import asked_lines
from gde.reporting.study import forest, opening
from gde.reporting.wording import counted, heading, number
from gde.studies.study import Study
from gde_plugins.pages.figures.track import track
from gde_plugins.pages.gallery import picture
from gde_plugins.pages.run_page import NAME
from gde_plugins.pages.tables import Cell, Row, Table, cell, pick, table
from gde_plugins.pages.templates import rendered, source

STUDY_PAGE = "reproduction.html"


def study_page(study: Study, links: Mapping[str, str] | None = None) -> str:
    """The page's HTML. Equal studies give equal text.

    Args:
        study: and its results.
        links: addresses of the runs' pages; by default those of the folder.
    """
    links = links or {run: f"{run}/{NAME}" for run in study.results}
    return rendered(
        "study.html.j2",
        source("page.js"),
        study=study,
        opening=opening(study),
        forest=forest(study),
        track=track,
        asked=asked_lines(study.models),
        links=links,
        tables=comparison_tables(study.rows, links),
        figures=[picture(figure) for figure in study.figures],
    )


def comparison_tables(
    rows: Sequence[Comparison], links: Mapping[str, str]
) -> list[tuple[str, Table]]:
    """Headings with the tables of their rows, in order of first appearance.

    A row whose source is one of the linked runs leads to its report.
    """
    tables = []
    for title, own in grouped(rows, lambda row: row.table).items():
        # Not every row has all rules: the table has a column for each rule of any row.
        rules: dict[str, None] = {}
        for row in own:
            rules |= dict.fromkeys(row.others)

        # Where nothing was published, two columns would be empty.
        is_published = any(row.paper is not None for row in own)
        first = ("paper", "ours", "difference") if is_published else ("ours",)
        lines = []
        for row in own:
            others = {rule: cell(one, _text) for rule, one in row.others.items()}
            n = Cell(text=counted(row.ours.n, row.ours.clusters))
            line = Row(
                head=heading(row.quantity, row.ours.unit),
                hint=row.source,
                cells=(*pick(_compared(row), first), *pick(others, rules), n),
                link=links.get(row.source, ""),
            )
            lines.append(line)
        tables.append((title, table((*first, *rules, "n"), lines)))
    return tables


def _compared(row: Comparison) -> dict[str, Cell]:
    """Our number beside the published one."""
    unit = row.ours.unit
    cells = {"ours": cell(row.ours, _text)}
    if row.paper is not None:
        cells["paper"] = Cell(text=_text(row.paper, unit))
    if row.difference is not None:
        sign = "+" if row.difference > 0 else ""
        cells["difference"] = Cell(text=f"{sign}{_text(row.difference, unit)}")
    return cells


def _text(value: float, unit: str) -> str:
    """A number without its unit; small ones have three significant digits."""
    if unit in {"share", "count", "probability"} or abs(value) >= 0.1:
        return number(value, unit)
    return f"{value:.3g}"
