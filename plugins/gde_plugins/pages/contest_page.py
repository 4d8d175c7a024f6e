"""The page of a contest: headlines side by side, and pairwise differences."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from urllib.parse import quote

from gde.comparisons.comparison import Comparison
from gde.comparisons.differences import Compared, ProbeRow
from gde.comparisons.differences import Row as Difference
from gde.data.model_use import merged
from gde.reporting.asked import agent_text, asked_lines
from gde.reporting.contest import (
    cautions,
    opening,
    p_text,
    side_by_side,
    verdicts,
)
from gde.reporting.pair import pair_groups
from gde.reporting.probe_differences import (
    against_control,
    against_first,
    difference,
    probe_tables,
)
from gde.reporting.ranking import Ranking, ranking
from gde.reporting.wording import (
    MINUS,
    SPACE,
    bounds,
    counted,
    heading,
    inline,
    labels_text,
    number,
    quantity,
)
from gde.request.catalogue import Catalogue
from gde_plugins.pages.both_ways import both_ways
from gde_plugins.pages.figures.track import track
from gde_plugins.pages.run_page import NAME
from gde_plugins.pages.tables import ABSENT, Cell, Group, Row, Table, cell, table
from gde_plugins.pages.templates import rendered, source

DIFFERENCE = f"B{SPACE}\u2212{SPACE}A"
SETTINGS = 5
"""Columns of the ranking for settings in which variants differ."""
PROBE_COLUMNS = ("A", "B", DIFFERENCE)
COLUMNS = (
    "A",
    "B",
    DIFFERENCE,
    "95 % interval",
    "effect",
    f"p{SPACE}(Holm)",
    "worlds",
)


def contest_page(
    found: Comparison,
    links: Mapping[str, str] | None = None,
    catalogue: Catalogue | None = None,
) -> str:
    """The page's HTML. Equal arguments give equal text.

    Args:
        found: the contest.
        links: variant to the address of its report; None for the reports in the
            variants' folders.
        catalogue: the installed parts.
    """
    if not links:
        links = {name: f"{quote(name)}/{NAME}" for name in found.results}
    title = f"{len(found.results)} variants"
    if len(found.results) == 2:
        title = " against ".join(found.results)

    ranked = ranking(found)
    uses = [one for result in found.results.values() for one in result.models]
    differences = []
    for one in found.compared:
        a, b = found.pair(one)
        caption = f"{b} \u2212 {a}: A is {a}, B is {b}"
        differences.append((caption, difference_tables(one)))

    # Every reader must see the notices about the models, each once.
    notices: dict[str, None] = {}
    listed = []
    for name, result in found.results.items():
        notice = str(result.provenance.get("notice") or "")
        if notice:
            notices[notice] = None
        agent = agent_text(result.subject, result.models)
        listed.append((name, agent, result, links[name]))

    played = both_ways(found, catalogue)
    script = source("page.js")
    if played:
        script += source("player.js")

    is_pair = len(found.compared) == 1
    if is_pair:
        drawn = pair_groups(found)
    else:
        drawn = side_by_side(found, ranked.measure.name if ranked else "")

    first = next(iter(found.results.values()))
    return rendered(
        "contest.html.j2",
        script,
        title=title,
        environment=first.subject.environment,
        status=found.status,
        opening=opening(found),
        verdicts=verdicts(found),
        cautions=cautions(found),
        asked=asked_lines(merged(uses)),
        ranking=None if ranked is None else ranking_table(ranked),
        ranking_title="" if ranked is None else ranked.title,
        forest=drawn,
        pair=found.pair(found.compared[0]) if is_pair else (),
        track=track,
        films=played,
        differences=differences,
        reason=found.reason,
        variants=listed,
        notices=list(notices),
    )


def ranking_table(ranked: Ranking) -> Table:
    """A row for each variant, the best first; columns that say nothing are left out."""
    settings = ranked.settings[:SETTINGS]
    columns = ["rank", *settings, ranked.measure.title, "\u2212 best", "usable"]
    if ranked.asks_models:
        columns += ["calls", "tokens", "model time"]
    if ranked.has_costs:
        columns.append("cost")

    rows = []
    for one in ranked.lines:
        cells = [
            Cell(text=one.rank),
            *(Cell(text=value) for value in one.settings[:SETTINGS]),
            Cell(text=one.value, bounds=one.interval),
            Cell(text=one.against, reason=one.verdict),
            Cell(text=one.usable),
        ]
        if ranked.asks_models:
            spent = (one.calls, one.tokens, one.seconds)
            cells += [Cell(text=text) for text in spent]
        if ranked.has_costs:
            cells.append(Cell(text=one.cost))
        # An agent without settings is named as its variant.
        agent = one.agent if one.agent != one.variant else ""
        rows.append(Row(head=one.variant, hint=agent, cells=tuple(cells)))

    more = ranked.settings[SETTINGS:]
    note = f"They also differ in {', '.join(more)}. " if more else ""
    note += "Rank: 1 and the number of variants that are better by a paired test (p < 0.05, corrected)."
    note += f" {ranked.note}." if ranked.note else ""
    if ranked.asks_models:
        note += " Calls, tokens, time and cost of language models are per episode"
        note += "." if ranked.has_costs else "; no prices are set."
    return table(tuple(columns), rows, note)


def difference_tables(one: Compared) -> list[tuple[str, Table]]:
    """Captioned tables of differences over all worlds, by swept condition, of probes."""
    whole = []
    by_condition = []
    for row in one.rows:
        if not row.where:
            whole.append(row)
        elif set(row.where) == set(one.swept):
            by_condition.append(row)

    tables = [("Over all shared worlds.", _difference_table(whole))]
    if by_condition:
        tables.append(("The headlines by condition.", _difference_table(by_condition)))

    groups = []
    for fit in probe_tables(one.probes):
        lines = tuple(_probe_row(row) for row in fit.rows)
        groups.append(Group(title=fit.title, rows=lines))
    if groups:
        probes = Table(columns=PROBE_COLUMNS, groups=tuple(groups))
        tables.append(("The headlines of probes, with their paired tests.", probes))
    return tables


def _probe_row(row: ProbeRow) -> Row:
    """A headline of both runs, each number with its verdict."""
    between = Cell(text=difference(row) or ABSENT, reason=against_first(row))
    cells = []
    for one in (row.a, row.b):
        shown = cell(one, quantity)
        if one.value is not None:
            shown = replace(shown, reason=against_control(one))
        cells.append(shown)
    return Row(head=row.title, hint=row.name, cells=(*cells, between))


def _difference_table(rows: Sequence[Difference]) -> Table:
    """A row for each measurement that differs in any world; a note lists the others."""
    lines = []
    same = []
    for row in rows:
        if row.n_different != 0:
            lines.append(_difference_row(row))
            continue
        name = f"{inline(row.title)} {labels_text(row.where)}".strip()
        value = quantity(row.a, row.unit)
        same.append(f"{name} ({value})")

    note = ""
    if same:
        note = f"Equal in every world: {'; '.join(same)}."
    return table(COLUMNS, lines, note)


def _difference_row(row: Difference) -> Row:
    interval = bounds(row.interval, row.unit) or ABSENT
    effect = ABSENT
    if row.rank_biserial is not None:
        effect = f"{row.rank_biserial:+.2f}".replace("-", MINUS)
    why_no_p = row.reason if row.p is None else ""

    # In the order of COLUMNS.
    cells = (
        Cell(text=number(row.a, row.unit)),
        Cell(text=number(row.b, row.unit)),
        Cell(text=number(row.difference, row.unit)),
        Cell(text=interval),
        Cell(text=effect),
        Cell(text=p_text(row.p), reason=why_no_p),
        Cell(text=counted(row.n, row.clusters)),
    )
    return Row(
        head=heading(row.title, row.unit),
        hint=labels_text(row.where) or row.name,
        cells=cells,
    )
