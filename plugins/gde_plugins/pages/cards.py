"""The opening cards of a report: actions, beliefs and goals of the agent.

Parts declare which of their numbers a card shows (`Measure.question`, `headline`,
`beside`): nothing here knows a metric or a probe by name.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from gde.data.figure import Figure
from gde.data.json import NONE
from gde.data.measure import Question
from gde.data.result import Measurement, Result
from gde.reporting.findings import (
    Finding,
    Probed,
    headlines,
    of_metrics,
    probed,
    whole,
)
from gde.reporting.wording import (
    bounds,
    counted,
    fit_text,
    labels_text,
    plural,
    quantity,
    verdict_text,
)
from gde_plugins.pages.figures.layers import layer_curve
from gde_plugins.pages.figures.learning import learning_curves
from gde_plugins.pages.figures.scales import Mark, Scale

TITLES: Mapping[Question, str] = {
    "did": "What it did",
    "believes": "What it believes",
    "wants": "What it wants",
}
SHOWN = 5
"""Numbers of one measure on a card; the tables have all."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One number of a card."""

    title: str
    value: str
    """Empty where there is none; the note says why."""
    note: str
    """Interval, number of observations, baselines; in small print."""
    picture: str = ""
    """Inline SVG."""
    beneath: "tuple[Line, ...]" = ()
    """Its strongest control, on the same scale."""
    head: str = ""
    """Above the first line of a probe: how it does in all of its numbers."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """The answer to one question."""

    question: Question
    title: str
    lines: tuple[Line, ...]
    figures: tuple[Figure, ...] = ()


def cards(result: Result) -> list[Card]:
    """The cards that the result has numbers for."""
    found = headlines(result)
    made = []
    for question, title in TITLES.items():
        lines = []
        for one in found:
            if one.measure.question == question:
                lines += _lines(one, result)

        figures = []
        if question == "believes":
            for probe in probed(result):
                lines += _decoded(probe)
                for drawn in (learning_curves, layer_curve):
                    curve = drawn(probe, result)
                    if curve is not None:
                        figures.append(curve)

        if lines:
            card = Card(
                question=question,
                title=title,
                lines=tuple(lines),
                figures=tuple(figures),
            )
            made.append(card)
    return made


def _lines(one: Finding, result: Result) -> list[Line]:
    """The best numbers of a measure, each with its baselines."""
    scale = Scale.of(one.numbers)
    lines = []
    for each in one.numbers[:SHOWN]:
        where = {key: value for key, value in each.where.items() if value != NONE}
        title, rest = one.measure.titled(where)
        if rest:
            title = f"{title}: {labels_text(rest)}"
        if each.value is None:
            lines.append(Line(title=title, value="", note=each.reason))
            continue

        marks = _baselines(each, result)
        notes = [f"n {counted(each.n, each.clusters)}"]
        for mark in marks:
            notes.append(f"{mark.title} {quantity(mark.value, each.unit, 0)}")
        if each.verdict is not None:
            notes.append(verdict_text(each.verdict, each.unit))
        line = _line(title, each, scale, ", ".join(notes))
        lines.append(replace(line, picture=scale.picture(each, marks, labelled=True)))
    return lines


def _baselines(one: Measurement, result: Result) -> list[Mark]:
    """What other agents would get instead."""
    marks = []
    for rival in whole(of_metrics(result)):
        measure = result.meanings[rival.name]
        is_baseline = measure.beside == one.name and rival.where == one.where
        if is_baseline and rival.value is not None:
            marks.append(Mark(title=measure.title, value=rival.value))
    return marks


def _decoded(probe: Probed) -> list[Line]:
    """Each headline of a probe over its strongest control; tables have the others."""
    if not probe.numbers:
        reason = probe.reason or "the probe gave no numbers"
        return [Line(title=probe.fit.probe, value="", note=reason)]

    lines: list[Line] = []
    for one in probe.numbers:
        # A common scale makes ours and its control comparable by eye.
        rivals = [one.rival] if one.rival else []
        scale = Scale.of([one.ours, *rivals])
        beneath = []
        if one.fit and one.rival:
            verdict = one.rival.verdict
            against = verdict_text(verdict, one.rival.unit) if verdict else ""
            title = f"strongest control: {fit_text(one.fit)}"
            beneath.append(_line(title, one.rival, scale, against))

        title, _ = one.measure.titled(one.ours.where)
        n = counted(one.ours.n, one.ours.clusters)
        line = _line(title, one.ours, scale, f"n {n}")
        head = "" if lines else _verdict(probe)
        picture = scale.picture(one.ours, labelled=True)
        lines.append(replace(line, picture=picture, beneath=tuple(beneath), head=head))
    return lines


def _line(title: str, one: Measurement, scale: Scale, more: str = "") -> Line:
    interval = bounds(one.interval, one.unit)
    note = ", ".join(filter(None, [interval, more]))
    return Line(
        title=title,
        value=quantity(one.value or 0.0, one.unit),
        note=note,
        picture=scale.picture(one),
    )


def _verdict(probe: Probed) -> str:
    """In how many of its numbers a probe is better than its strongest control."""
    subject = f"{probe.fit.probe} ({fit_text(probe.fit)})"
    verdicts = [one.verdict for one in probe.numbers if one.verdict is not None]
    tested = [verdict for verdict in verdicts if not verdict.reason]
    if not tested:
        return f"{subject}: not tested against its controls" if verdicts else subject
    outcomes = Counter(verdict.outcome for verdict in tested)
    n_better = outcomes["better"]
    numbers = f"{n_better or 'none'} of {plural(len(tested), 'number')}"
    if n_better == len(tested) > 1:
        numbers = f"all {n_better} numbers"
    worse = f", worse in {outcomes['worse']}" if outcomes["worse"] else ""
    return f"{subject}: better than its best control in {numbers}{worse} (paired tests over worlds)."
