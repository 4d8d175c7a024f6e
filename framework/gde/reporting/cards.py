"""The three answers that a report begins with: what the agent did, what it believes, what it wants.

Which numbers a card shows is declared by the parts that give them (`Measure.question`, `headline`, `beside`): nothing
here knows a metric or a probe by name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.figure import Figure
from gde.data.json import NONE
from gde.data.measure import Question
from gde.data.result import Measurement, Result
from gde.reporting.findings import Finding, Probed, findings, headlines, of_metrics, probed, whole
from gde.reporting.layers import layer_curve
from gde.reporting.scales import Mark, Scale
from gde.reporting.wording import arm_text, bounds, inline, labels_text, number, quantity, symbol

TITLES: Mapping[Question, str] = {"did": "What it did", "believes": "What it believes", "wants": "What it wants"}
LEAST = 0.005
"""What rounds to zero in a column of a ranking is told in one line with others of its kind."""
SHOWN = 2
"""Numbers of one measure that a card tells; the tables have all."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One number of a card."""

    title: str
    value: str
    """Empty for one without a value, whose note says why."""
    note: str
    """Interval, number of observations, marks; in small print."""
    picture: str = ""
    """Inline SVG."""
    beneath: "tuple[Line, ...]" = ()
    """What it is to be compared with, on the same scale."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What several rivals for the same place got, e.g. the goals that an agent may be after: a row for each."""

    title: str
    columns: tuple[str, ...]
    """Their units."""
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Name, inline SVG of the first column, and the text of each column."""
    key: str
    """What each column is."""
    rest: str = ""
    """Those that round to zero everywhere, in words."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """One answer."""

    question: Question
    title: str
    verdict: str
    """In a few words; empty where the numbers speak for themselves."""
    lines: tuple[Line, ...]
    rankings: tuple[Ranking, ...] = ()
    figures: tuple[Figure, ...] = ()


def cards(result: Result) -> list[Card]:
    """The answers that the result has numbers for."""
    found = {question: [one for one in headlines(result) if one.measure.question == question] for question in TITLES}
    made = (_did(found["did"], result), _believes(found["believes"], result), _wants(found["wants"], result))
    return [card for card in made if card.lines or card.rankings]


def _did(found: Sequence[Finding], result: Result) -> Card:
    lines = tuple(line for one in found for line in _lines(one, result))
    return Card(question="did", title=TITLES["did"], verdict="", lines=lines)


def _wants(found: Sequence[Finding], result: Result) -> Card:
    ranked = {one.measure.name: ranking for one in found if (ranking := _ranking(one, result))}
    lines = tuple(line for one in found if one.measure.name not in ranked for line in _lines(one, result))
    return Card(question="wants", title=TITLES["wants"], verdict="", lines=lines, rankings=tuple(ranked.values()))


def _believes(found: Sequence[Finding], result: Result) -> Card:
    lines = [line for one in found for line in _lines(one, result)]
    figures, first = list[Figure](), probed(result)
    for probe in first:
        lines += _decoded(probe)
        figures += layer_curve(probe, result)
    verdict = _verdict(first[0]) if first else ""
    return Card(
        question="believes", title=TITLES["believes"], verdict=verdict, lines=tuple(lines), figures=tuple(figures)
    )


def _lines(one: Finding, result: Result) -> Iterator[Line]:
    """The best numbers of a measure, each with what others would get."""
    scale = Scale.of(one.numbers)
    for each in one.numbers[:SHOWN]:
        title, rest = one.measure.titled({key: value for key, value in each.where.items() if value != NONE})
        title = f"{title}: {labels_text(rest)}" if rest else title
        if each.value is None:
            yield Line(title=title, value="", note=each.reason)
            continue
        marks = list(_marks(each, result))
        told = [f"{mark.title} {quantity(mark.value, each.unit, 0)}" for mark in marks]
        line = _line(title, each, scale, ", ".join([f"n {each.n}", *told]))
        yield replace(line, picture=scale.picture(each, marks))


def _marks(one: Measurement, result: Result) -> Iterator[Mark]:
    """What other agents would get instead."""
    for rival in whole(of_metrics(result)):
        measure = result.meanings[rival.name]
        if measure.beside == one.name and rival.where == one.where and rival.value is not None:
            yield Mark(title=measure.title, value=rival.value)


def _decoded(probe: Probed) -> Iterator[Line]:
    """Each headline of a probe over the control that comes nearest to it, the first over all controls, on one scale."""
    if not probe.numbers:
        yield Line(title=probe.arm.probe, value="", note=probe.reason or "the probe gave no numbers")
    for place, one in enumerate(probe.numbers):
        rivals = [(arm, rival) for arm, rival in one.controls if place == 0 or arm == one.arm]
        scale = Scale.of([one.ours, *(rival for _, rival in rivals)])
        line = _line(one.measure.titled(one.ours.where)[0], one.ours, scale, f"n {one.ours.n}")
        yield replace(line, beneath=tuple(_line(f"control: {arm_text(arm)}", rival, scale) for arm, rival in rivals))


def _line(title: str, one: Measurement, scale: Scale, told: str = "") -> Line:
    note = ", ".join(filter(None, [bounds(one.interval, one.unit), told]))
    return Line(title=title, value=quantity(one.value or 0.0, one.unit), note=note, picture=scale.picture(one))


def _verdict(probe: Probed) -> str:
    told = [one for one in probe.numbers if one.rival is not None]
    better, beaten = sum(one.clear for one in told), sum(one.beaten for one in told)
    if not told:
        return ""
    worse = f", and worse in {beaten}" if beaten else ""
    numbers = f"all {better} numbers" if better == len(told) else f"{better or 'none'} of {len(told)} numbers"
    return f"{probe.arm.probe} ({arm_text(probe.arm)}): clearly better than its best control in {numbers}{worse}."


def _ranking(one: Finding, result: Result) -> Ranking | None:
    """A measure whose numbers differ in one label, beside those of measures whose names go on from its own."""
    keys = {tuple(each.where) for each in one.numbers}
    if len(one.numbers) < 2 or len(keys) != 1 or len(*keys) != 1:
        return None
    ((key,),) = keys
    columns = [one, *_companions(one, key, result)]
    table: dict[str, list[Measurement | None]] = {}
    for place, column in enumerate(columns):
        for each in column.numbers:
            table.setdefault(str(each.where[key]), [None] * len(columns))[place] = each
    kept = {name: row for name, row in table.items() if any(map(_seen, row))}
    scale = Scale.of(one.numbers)
    rows = tuple(
        (name, scale.picture(row[0]) if row[0] else "", tuple(_cell(each) for each in row))
        for name, row in kept.items()
    )
    titles = [column.measure.titled({key: f"each {key}"})[0] for column in columns]
    units = [column.numbers[0].unit for column in columns]
    rest = ", ".join(name for name in table if name not in kept)
    told = "; ".join([titles[0], *map(inline, titles[1:])])
    shown = tuple(symbol(unit) or unit for unit in units)
    return Ranking(title=titles[0], columns=shown, rows=rows, key=f"Columns: {told}.", rest=rest)


def _companions(one: Finding, key: str, result: Result) -> Iterator[Finding]:
    for other in findings(result):
        if other.measure.name.startswith(f"{one.measure.name}.") and all(
            tuple(each.where) == (key,) for each in other.numbers
        ):
            yield other


def _seen(one: Measurement | None) -> bool:
    """Whether a number is worth a row."""
    return one is not None and one.value is not None and (abs(one.value) >= LEAST or one.interval is not None)


def _cell(one: Measurement | None) -> str:
    if one is None or one.value is None:
        return "\u2013"
    return number(one.value, one.unit)
