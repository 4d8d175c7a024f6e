"""The forest plot: each headline with its interval, its strongest control and verdict.

The rows are the same on a page, in a terminal and in a notebook.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from gde.data.grouping import grouped
from gde.data.json import NONE
from gde.data.measure import Measure, Question
from gde.data.result import Measurement, Result, Subject
from gde.data.verdict import Outcome
from gde.reporting.findings import (
    Beside,
    Finding,
    among_baselines,
    by_condition,
    early_of,
    headlines,
    late_of,
    probed,
)
from gde.reporting.wording import (
    bounds,
    control_text,
    fit_text,
    heading,
    labels_text,
    number,
    quantity,
    titled,
    verdict_text,
)

TITLES: Mapping[Question, str] = {
    "did": "What it did",
    "believes": "What it believes",
    "wants": "What it wants",
    "judges": "What reward models say",
}
OUTCOMES = {
    "better": ("\u25b2", "better"),
    "worse": ("\u25bc", "worse"),
    "none": ("~", "unclear"),
    "different": ("~", "different"),
    "untested": ("?", "untested"),
}
"""Mark and word of the outcome of a test."""
EQUAL = ("=", "equal")
"""Where a control has the same number, and too few worlds differ for a test."""
FEW = ("!", "not judged")
"""Where too few answers were usable to judge what the agent did."""
USABLE = 0.9
"""The least share of usable answers of an agent that is judged."""
CONDITIONS = 12
"""Rows of the conditions of a sweep; the page's table has all."""
WORST: tuple[Outcome, ...] = ("worse", "none", "different", "untested", "better")
"""Outcomes, the first to be shown first."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One headline."""

    title: str
    beside: Beside
    mark: str
    word: str
    """The verdict in a word; empty where there is no control."""
    by: str = ""
    """The size of a difference that is shown between two runs."""

    @property
    def value(self) -> str:
        """Only per cents with their unit, which the group has; a dash for no value."""
        ours = self.beside.ours
        if ours.value is None:
            return "\u2013"
        write = quantity if ours.unit == "share" else number
        return write(ours.value, ours.unit, 0)

    @property
    def interval(self) -> str:
        """Without its unit; why there is none, or no value."""
        ours = self.beside.ours
        return bounds(ours.interval, ours.unit, 0) or ours.reason

    @property
    def control(self) -> str:
        """The strongest control and its number; empty where there is none."""
        rival = self.beside.rival
        if rival is None or rival.value is None:
            verdict = self.beside.verdict
            return "" if verdict is None else control_text(verdict)
        return f"{self.beside.control} {number(rival.value, rival.unit, 0)}"

    @property
    def control_interval(self) -> str:
        """Without its unit; empty where there is none."""
        rival = self.beside.rival
        return bounds(rival.interval, rival.unit, 0) if rival is not None else ""

    @property
    def test(self) -> str:
        """The difference from the control and how sure it is; empty without a control."""
        verdict = self.beside.verdict
        if verdict is None:
            return ""
        return verdict_text(verdict, self.beside.ours.unit)


@dataclass(frozen=True, kw_only=True)
class Group:
    """Rows that answer one question and share an axis."""

    question: Question
    title: str
    unit: str
    rows: tuple[Row, ...]
    low: float = 0.0
    high: float = 1.0
    """The ends of the axis."""

    def place(self, value: float) -> float:
        """Where a value lies on the axis, from 0 to 1; beyond it at its end."""
        share = (value - self.low) / (self.high - self.low)
        return min(max(share, 0.0), 1.0)


def forest(result: Result) -> list[Group]:
    """The headlines of a run in groups, one for each question and unit.

    A number that is worse than its control comes first among those of its unit.
    """
    groups: list[Group] = []
    judged = is_judged(result.subject)
    found = headlines(result)
    for question, title in TITLES.items():
        rows = []
        for finding in found:
            # A verdict is told in a sentence, and has no place on an axis.
            is_told = bool(finding.measure.sentence)
            if finding.measure.question == question and not is_told:
                rows += list(_rows(finding, result, judged))
        groups += on_axes(question, title, rows)

        for probe in probed(result) if question == "believes" else ():
            read = f"Read by {probe.fit.probe} ({fit_text(probe.fit)})"
            early = f", {probe.early_worlds} worlds"
            # A reader shown few worlds tells more of a model than one shown all.
            rows = [
                row_of(one.measure.title.replace(" early", early), one)
                for one in (*early_of(probe), *late_of(probe))
            ]
            groups += on_axes(question, read, rows)
    for finding in found[:1]:
        groups += _by_condition(finding.measure, result)
    return groups


def _by_condition(measure: Measure, result: Result) -> Iterator[Group]:
    """A number in each condition of a sweep; of many, in the worst ones."""
    rows = []
    for one in by_condition(result, measure.name):
        beside = among_baselines(one, measure, result)
        rows.append(row_of(labels_text(one.where), beside))
    title = f"{measure.title} by condition"
    if len(rows) > CONDITIONS:
        title += f", the worst of {len(rows)}"
        sign = -1 if measure.better == "less" else 1

        def rank(row: Row) -> tuple[int, float]:
            value = row.beside.ours.value
            return WORST.index(
                row.beside.outcome
            ), inf if value is None else sign * value

        rows = sorted(rows, key=rank)[:CONDITIONS]
    yield from on_axes("did", title, rows)


def is_judged(of: Subject) -> bool:
    """Whether enough answers were usable to judge what an agent did."""
    return of.unusable <= (1 - USABLE) * of.turns


def _rows(finding: Finding, result: Result, judged: bool) -> Iterator[Row]:
    for one in finding.numbers:
        where = {key: value for key, value in one.where.items() if value != NONE}
        title = titled(finding.measure, where)
        row = row_of(title, among_baselines(one, finding.measure, result))
        if row.word and not judged:
            mark, word = FEW
            row = replace(row, mark=mark, word=word)
        yield row


def row_of(title: str, beside: Beside) -> Row:
    """A row with its verdict, if there is a control."""
    mark = word = ""
    rival = beside.rival
    if rival is not None or beside.verdict is not None:
        mark, word = OUTCOMES[beside.outcome]
    is_same = rival is not None and rival.value == beside.ours.value
    if is_same and beside.outcome == "untested":
        mark, word = EQUAL
    return Row(title=title, beside=beside, mark=mark, word=word)


def on_axes(question: Question, title: str, rows: Sequence[Row]) -> Iterator[Group]:
    """Rows that share unit and direction share an axis."""

    def kind(row: Row) -> tuple[str, str, str]:
        ours = row.beside.ours
        # Numbers without a unit need not be of one kind.
        return ours.unit, row.beside.measure.better, "" if ours.unit else ours.name

    for (unit, better, _), some in grouped(rows, kind).items():
        more = f" ({better} is better)" if better else ""
        low, high = _axis(unit, some)
        yield Group(
            question=question,
            title=f"{heading(title, unit)}{more}",
            unit=unit,
            rows=tuple(some),
            low=low,
            high=high,
        )


def _axis(unit: str, rows: Sequence[Row]) -> tuple[float, float]:
    """From 0 to 1 for shares, else from zero to the outermost bounds."""
    values = [0.0]
    for row in rows:
        for one in (row.beside.ours, row.beside.rival):
            values += _extent(one) if one is not None else ()
    low, high = min(values), max(values)
    if unit in ("share", "probability") and low >= 0 and high <= 1:
        return 0.0, 1.0
    # If all numbers are zero, the axis needs a length nevertheless.
    return low, high if high > low else low + 1


def _extent(one: Measurement) -> tuple[float, ...]:
    return () if one.value is None else (one.value, *(one.interval or ()))
