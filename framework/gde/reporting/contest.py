"""A contest as people look at it: the headlines of all entrants side by side, and in what every two differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten, wrap
from urllib.parse import quote

from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.drawing import picture
from gde.reporting.findings import headlines, swept
from gde.reporting.policy import content_policy
from gde.reporting.scales import Scale
from gde.reporting.screen import HEIGHT, WIDTH
from gde.reporting.strata import entrant_maps
from gde.reporting.tables import ABSENT, Cell, Group, Row, Table, cell, pick
from gde.reporting.templates import source, template
from gde.reporting.wording import SPACE, bounds, heading, inline, labels_text, number, quantity, symbol
from gde.runs.contest import Contest
from gde.runs.differences import Compared
from gde.runs.differences import Row as Difference

NAME = "report.html"
COLUMNS = ("A", "B", "B \u2212 A", "95 % interval", "effect", "p (Holm)", "worlds")
TOLD = 3
"""Differences that are told in words."""
CAUTIONS = 2
"""On a screen."""
CLEAR = 0.05
"""Corrected p values below it are told as differences."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """A number of one entrant."""

    entrant: str
    one: Measurement | None
    picture: str = ""


@dataclass(frozen=True, kw_only=True)
class Contended:
    """A headline, and what each entrant got."""

    measure: Measure
    title: str
    sides: tuple[Side, ...]


def contended(found: Contest) -> list[Contended]:
    """The headlines of all entrants, each with the number of everyone."""
    told: dict[tuple[str, str], tuple[Measure, Measurement]] = {}
    for result in found.results.values():
        for one in headlines(result):
            for each in one.numbers:
                told.setdefault((each.name, labels_text(each.where)), (one.measure, each))
    return [_contended(measure, example, found) for measure, example in told.values()]


def contest_page(found: Contest, links: Mapping[str, str] | None = None) -> str:
    """The page's HTML. Equal arguments give equal text; `links` lead to the reports, by default those beside it."""
    links = links or {name: f"{quote(name)}/{NAME}" for name in found.results}
    style, script = source("style.css"), source("page.js")
    told = contended(found)
    return template("contest.html.j2").render(
        title=" against ".join(found.results) if len(found.results) == 2 else f"{len(found.results)} entrants",
        environment=next(iter(found.results.values())).subject.environment,
        status=found.status,
        verdicts=verdicts(found)[:TOLD],
        more=len(verdicts(found)) - TOLD,
        cautions=cautions(found),
        contended=told,
        quantity=quantity,
        bounds=bounds,
        differences=[(_versus(one, found), differences(one)) for one in found.compared],
        reason=found.reason,
        strata=_by_stratum(found),
        stratum_maps=[*map(picture, entrant_maps(found.results))],
        entrants=[(name, result, links[name]) for name, result in found.results.items()],
        notices=_notices(found),
        style=style,
        script=script,
        policy=content_policy(style, script),
    )


def verdicts(found: Contest) -> list[str]:
    """A sentence for each difference of a headline that is clear, the clearest first."""
    names = {one.measure.name for one in contended(found)}
    told = [
        (row.p, _told(row, one, found))
        for one in found.compared
        for row in one.rows
        if row.p is not None and row.p < CLEAR and not row.where and row.name in names
    ]
    return [text for _, text in sorted(told)] or ["No headline differs clearly between any two of them."]


def cautions(found: Contest) -> list[str]:
    """What the comparisons say to be careful of, each once."""
    return [*dict.fromkeys(f"{note[:1].upper()}{note[1:]}." for one in found.compared for note in one.notes)]


def screen(found: Contest) -> tuple[str, ...]:
    """Lines of at most 80 columns, on one screen with what the command says beneath."""
    lines, told = list[str](), verdicts(found)
    width = max(map(len, found.results))
    for one in contended(found):
        lines.append(shorten(one.title, WIDTH, placeholder=" \u2026"))
        lines += [f"  {side.entrant.ljust(width)}  {_sentence(side.one)}" for side in one.sides]
    below = [line for each in [*told[:TOLD], *cautions(found)[:CAUTIONS]] for line in _wrapped(each)]
    room = HEIGHT - 4 - len(below)
    left = len(lines) - room
    cut = [*lines[:room], f"and {left} lines more: --all"] if left > 0 else lines
    return tuple(line.replace(SPACE, " ") for line in [*cut, "", *below])


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, max_lines=2, placeholder=" \u2026", break_on_hyphens=False, subsequent_indent="  ")


def differences(one: Compared) -> list[tuple[str, Table]]:
    """Caption and table of the measurements of whole worlds in two runs, and of those in the strata of a sweep."""
    whole = [row for row in one.rows if not row.where]
    strata = [row for row in one.rows if row.where and {*row.where} == {*one.swept}]
    tables = [("Over all worlds they share.", _differences(whole))]
    return [*tables, ("The headlines by stratum.", _differences(strata))] if strata else tables


def _differences(rows: Sequence[Difference]) -> Table:
    """A row for each measurement that differs in any world, those that do not in a note."""
    calm = [row for row in rows if row.n_different == 0]
    lines = tuple(_difference(row) for row in rows if row not in calm)
    told = (f"{inline(row.title)} {labels_text(row.where)}".strip() for row in calm)
    same = (f"{each} ({quantity(row.a, row.unit)})" for each, row in zip(told, calm, strict=True))
    note = f"The same in A and B in every world: {'; '.join(same)}." if calm else ""
    return Table(columns=COLUMNS, groups=(Group(title="", rows=lines),), note=note)


def _contended(measure: Measure, example: Measurement, found: Contest) -> Contended:
    numbers = {name: _same(result, example) for name, result in found.results.items()}
    scale = Scale.of([one for one in numbers.values() if one is not None])
    title, rest = measure.titled(example.where)
    return Contended(
        measure=measure,
        title=f"{title}: {labels_text(rest)}" if rest else title,
        sides=tuple(
            Side(entrant=name, one=one, picture=scale.picture(one) if one else "") for name, one in numbers.items()
        ),
    )


def _same(result: Result, example: Measurement) -> Measurement | None:
    return next((one for one in result.measurements if (one.name, one.where) == (example.name, example.where)), None)


def _notices(found: Contest) -> list[str]:
    """What every reader must be told of the models, each once."""
    told = (str(result.provenance.get("notice") or "") for result in found.results.values())
    return [*dict.fromkeys(filter(None, told))]


def _sentence(one: Measurement | None) -> str:
    if one is None:
        return "not measured"
    if one.value is None:
        return f"not measured ({one.reason})"
    return f"{quantity(one.value, one.unit)} {bounds(one.interval, one.unit)}, n {one.n}"


def _versus(one: Compared, found: Contest) -> str:
    a, b = (_entrant(side.run, found) for side in one.runs)
    return f"{b} (B) less {a} (A)"


def _entrant(run: str, found: Contest) -> str:
    return next(name for name in found.results if found.folder / name == Path(run))


def _told(row: Difference, one: Compared, found: Contest) -> str:
    a, b = (_entrant(side.run, found) for side in one.runs)
    by, p = quantity(abs(row.difference), row.unit).replace("%", "points"), _p(row.p)
    apart = f"{b} {by} {'above' if row.difference > 0 else 'below'} {a}"
    mean = f"in the mean over {row.n} world{'s' if row.n > 1 else ''}"
    told = f"{apart} {mean}, p {p if p.startswith('<') else f'= {p}'}: {inline(row.title)}"
    return f"{told} {bounds(row.interval, row.unit)}".strip()


def _difference(row: Difference) -> Row:
    def plain(value: float) -> str:
        return number(value, row.unit)

    effect = "" if row.rank_biserial is None else f"{row.rank_biserial:+.2f}"
    p = Cell(text=ABSENT, reason=row.reason) if row.p is None else Cell(text=_p(row.p))
    texts = (
        plain(row.a),
        plain(row.b),
        plain(row.difference),
        bounds(row.interval, row.unit) or ABSENT,
        effect or ABSENT,
    )
    unit = symbol(row.unit)
    return Row(
        head=f"{row.title}, {unit}" if unit else row.title,
        hint=labels_text(row.where) or row.name,
        cells=(*(Cell(text=text) for text in texts), p, Cell(text=str(row.n))),
    )


def _p(value: float | None) -> str:
    return ABSENT if value is None else number(value, "probability")


def _by_stratum(found: Contest) -> Table | None:
    """A group for each headline that has numbers by stratum: a row for each stratum, a column for each entrant."""
    whole = (one for one in contended(found) if not any(side.one and side.one.where for side in one.sides))
    groups = tuple(group for one in whole if (group := _strata(one, found)).rows)
    return Table(columns=tuple(found.results), groups=groups) if groups else None


def _strata(one: Contended, found: Contest) -> Group:
    settings = {*swept(next(iter(found.results.values())))}  # alike in the plans of all entrants
    cells: dict[str, dict[str, Cell]] = {}
    unit = next((side.one.unit for side in one.sides if side.one), "")
    for name, result in found.results.items():
        for each in result.measurements:
            if each.name == one.measure.name and each.where and {*each.where} == settings:
                cells.setdefault(labels_text(each.where), {})[name] = cell(each)
    rows = tuple(Row(head=stratum, hint="", cells=pick(row, found.results)) for stratum, row in cells.items())
    return Group(title=heading(one.title, unit), rows=rows)
