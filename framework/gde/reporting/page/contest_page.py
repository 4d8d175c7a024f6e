"""The page of a contest: the headlines of all entrants side by side, and the differences of every two."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from gde.data.result import Measurement
from gde.reporting.contest import TOLD, Contended, cautions, contended, entrants, p_text, verdicts
from gde.reporting.figures.drawing import picture
from gde.reporting.figures.scales import Scale
from gde.reporting.findings import swept
from gde.reporting.page.conditions import entrant_maps
from gde.reporting.page.tables import ABSENT, Cell, Group, Row, Table, cell, pick
from gde.reporting.page.templates import content_policy, source, template
from gde.reporting.wording import MINUS, bounds, heading, inline, labels_text, number, quantity
from gde.runs.contest import Contest
from gde.runs.differences import Compared
from gde.runs.differences import Row as Difference

NAME = "report.html"
COLUMNS = ("A", "B", "B \u2212 A", "95 % interval", "effect", "p (Holm)", "worlds")


@dataclass(frozen=True, kw_only=True)
class Side:
    """A number of one entrant."""

    entrant: str
    one: Measurement | None
    picture: str
    """Inline SVG; empty without a number."""


def contest_page(found: Contest, links: Mapping[str, str] | None = None) -> str:
    """The page's HTML. Equal arguments give equal text.

    Args:
        found: the contest.
        links: entrant to the address of its report; None for the reports in the entrants' folders.
    """
    links = links or {name: f"{quote(name)}/{NAME}" for name in found.results}
    sentences = verdicts(found)
    headlines = contended(found)
    differences = []
    for one in found.compared:
        a, b = entrants(one, found)
        differences.append((f"{b} \u2212 {a}: A is {a}, B is {b}", difference_tables(one)))

    # Every reader must see the notices about the models, each once.
    notices = dict.fromkeys(str(result.provenance.get("notice") or "") for result in found.results.values())
    style = source("style.css")
    script = source("page.js")
    first = next(iter(found.results.values()))
    return template("contest.html.j2").render(
        title=" against ".join(found.results) if len(found.results) == 2 else f"{len(found.results)} entrants",
        environment=first.subject.environment,
        status=found.status,
        verdicts=sentences[:TOLD],
        more=len(sentences) - TOLD,
        cautions=cautions(found),
        contended=[(one, _sides(one)) for one in headlines],
        quantity=quantity,
        bounds=bounds,
        differences=differences,
        reason=found.reason,
        conditions=_condition_table(headlines, found),
        condition_maps=[picture(figure) for figure in entrant_maps(found.results)],
        entrants=[(name, result, links[name]) for name, result in found.results.items()],
        notices=[notice for notice in notices if notice],
        style=style,
        script=script,
        policy=content_policy(style, script),
    )


def _sides(one: Contended) -> list[Side]:
    """The numbers of a headline on one scale."""
    scale = Scale.of(number for number in one.numbers.values() if number is not None)
    sides = []
    for entrant, number_of_entrant in one.numbers.items():
        drawn = scale.picture(number_of_entrant) if number_of_entrant else ""
        sides.append(Side(entrant=entrant, one=number_of_entrant, picture=drawn))
    return sides


def difference_tables(one: Compared) -> list[tuple[str, Table]]:
    """Caption and table of the differences over all worlds and, after a sweep, by condition."""
    whole = [row for row in one.rows if not row.where]
    tables = [("Over all shared worlds.", _difference_table(whole))]
    conditions = [row for row in one.rows if row.where and set(row.where) == set(one.swept)]
    if conditions:
        tables.append(("The headlines by condition.", _difference_table(conditions)))
    return tables


def _difference_table(rows: Sequence[Difference]) -> Table:
    """A row for each measurement that differs in any world; a note lists the others."""
    lines = []
    same = []
    for row in rows:
        if row.n_different == 0:
            name = f"{inline(row.title)} {labels_text(row.where)}".strip()
            same.append(f"{name} ({quantity(row.a, row.unit)})")
        else:
            lines.append(_difference_row(row))
    note = f"The same in A and B in every world: {'; '.join(same)}." if same else ""
    return Table(columns=COLUMNS, groups=(Group(title="", rows=tuple(lines)),), note=note)


def _difference_row(row: Difference) -> Row:
    numbers = [number(value, row.unit) for value in (row.a, row.b, row.difference)]
    interval = bounds(row.interval, row.unit) or ABSENT
    effect = ABSENT if row.rank_biserial is None else f"{row.rank_biserial:+.2f}".replace("-", MINUS)
    p = Cell(text=p_text(row.p), reason=row.reason if row.p is None else "")
    cells = [*(Cell(text=text) for text in [*numbers, interval, effect]), p, Cell(text=str(row.n))]
    hint = labels_text(row.where) or row.name
    return Row(head=heading(row.title, row.unit), hint=hint, cells=tuple(cells))


def _condition_table(headlines: Sequence[Contended], found: Contest) -> Table | None:
    """The headlines by condition: a group for each headline, a column for each entrant."""
    groups = []
    for one in headlines:
        numbers = [number for number in one.numbers.values() if number is not None]
        if not any(number.where for number in numbers):
            title = heading(one.title, numbers[0].unit if numbers else "")
            rows = _condition_rows(one.measure.name, found)
            if rows:
                groups.append(Group(title=title, rows=rows))
    return Table(columns=tuple(found.results), groups=tuple(groups)) if groups else None


def _condition_rows(name: str, found: Contest) -> tuple[Row, ...]:
    # The plans of all entrants sweep the same settings.
    settings = set(swept(next(iter(found.results.values()))))
    cells: dict[str, dict[str, Cell]] = {}
    for entrant, result in found.results.items():
        for one in result.measurements:
            if one.name == name and one.where and set(one.where) == settings:
                cells.setdefault(labels_text(one.where), {})[entrant] = cell(one)
    return tuple(Row(head=condition, hint="", cells=pick(row, found.results)) for condition, row in cells.items())
