"""A contest in numbers and sentences: the headlines of all entrants, and the clear differences between them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.findings import headlines
from gde.reporting.wording import bounds, inline, labels_text, number, plural, quantity
from gde.runs.contest import Contest
from gde.runs.differences import Compared, Row

TOLD = 3
"""Differences told in sentences."""
CLEAR = 0.05
"""Differences with a smaller corrected p value are told."""


@dataclass(frozen=True, kw_only=True)
class Contended:
    """A headline, and what each entrant got."""

    measure: Measure
    title: str
    numbers: Mapping[str, Measurement | None]
    """Entrant to number; None where it has none."""


def contended(found: Contest) -> list[Contended]:
    """The headlines of all entrants, each with the numbers of all."""
    examples: dict[tuple[str, str], tuple[Measure, Measurement]] = {}
    for result in found.results.values():
        for finding in headlines(result):
            for one in finding.numbers:
                examples.setdefault((one.name, labels_text(one.where)), (finding.measure, one))

    listed = []
    for measure, example in examples.values():
        title, rest = measure.titled(example.where)
        if rest:
            title = f"{title}: {labels_text(rest)}"
        numbers = {name: _same_number(result, example) for name, result in found.results.items()}
        listed.append(Contended(measure=measure, title=title, numbers=numbers))
    return listed


def _same_number(result: Result, example: Measurement) -> Measurement | None:
    same = (one for one in result.measurements if (one.name, one.where) == (example.name, example.where))
    return next(same, None)


def verdicts(found: Contest) -> list[str]:
    """A sentence for each clear difference of a headline, the clearest first."""
    names = {one.measure.name for one in contended(found)}
    sentences = []
    for one in found.compared:
        headline_rows = [row for row in one.rows if row.name in names and not row.where]
        clear = [row for row in headline_rows if row.p is not None and row.p < CLEAR]
        sentences += [(row.p, _sentence(row, one, found)) for row in clear]
    return [text for _, text in sorted(sentences)] or ["No headline differs clearly between any two entrants."]


def _sentence(row: Row, one: Compared, found: Contest) -> str:
    a, b = entrants(one, found)
    by = quantity(abs(row.difference), row.unit).replace("%", "points")
    direction = "above" if row.difference > 0 else "below"
    p = p_text(row.p)
    p_value = f"p {p}" if p.startswith("<") else f"p = {p}"
    interval = bounds(row.interval, row.unit)
    apart = f"{b} {by} {direction} {a} on average over {plural(row.n, 'world')}"
    return f"{apart}, {p_value}: {inline(row.title)} {interval}".strip()


def entrants(one: Compared, found: Contest) -> tuple[str, str]:
    """The names of A and B of a comparison."""
    names = {found.folder / name: name for name in found.results}
    a, b = (names[Path(side.run)] for side in one.runs)
    return a, b


def p_text(value: float | None) -> str:
    """A p value as a table prints it."""
    return "\u2013" if value is None else number(value, "probability")


def cautions(found: Contest) -> list[str]:
    """The warnings of the comparisons as sentences, each once."""
    notes = dict.fromkeys(note for one in found.compared for note in one.notes)
    return [f"{note[:1].upper()}{note[1:]}." for note in notes]
