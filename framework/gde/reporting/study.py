"""What a study has found: its opening, and its numbers as a forest plot."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gde.data.grouping import grouped
from gde.data.measure import Measure
from gde.data.result import Measurement, readable_rates
from gde.data.reward import READS_NOTHING, READS_TRUTH
from gde.parts.reproduction import Comparison
from gde.reporting.asked import agent_text
from gde.reporting.findings import Beside
from gde.reporting.forest import Group, Row, on_axes, row_of
from gde.reporting.opening import Opening, answers_limit, record_limits, worlds_limit
from gde.reporting.wording import inline, number, plural, quantity, short
from gde.studies.study import Study

FEWEST = 60
"""Fewest worlds behind a number that is compared with a published one: the intervals of
fewer hold almost anything.
"""
SHOWN = 30
"""Rows of a forest plot; tables have all."""
CLOSE = 0.005
"""Exact numbers that differ by a smaller share are the same in print."""
PUBLISHED = "published"
BRACKET = re.compile(r"\s*[(,;]")


def opening(study: Study) -> Opening:
    """Put the numbers of a study into words, after the shares of readable answers where
    these limit them.
    """
    results = [*study.results.values()]
    rates = readable_rates({name: one.subject for name, one in study.results.items()})
    agents = grouped(results, lambda one: agent_text(one.subject, one.models))
    return Opening(
        subject=_subject(study, [*agents]),
        finding=f"{rates} {_finding(study, short(next(iter(agents), '')))}".strip(),
        limits=tuple(_limits(study)),
        notes=study.claim[1:],
    )


def _subject(study: Study, agents: Sequence[str]) -> str:
    subjects = [result.subject for result in study.results.values()]
    # Scripted agents beside the profiled one are no subjects.
    named = agents[:1] if study.claim else agents
    if _contending(study):
        named = []
    episodes = plural(sum(of.episodes for of in subjects), "episode")
    played = f"{episodes} in {plural(len(subjects), 'run')}" if subjects else ""
    return " \u00b7 ".join(filter(None, [study.name, *named, played]))


def _finding(study: Study, agent: str) -> str:
    """The published numbers that lie in our intervals, else the first number."""
    if study.claim:
        return f"{agent} {study.claim[0]}"
    compared = [row for row in study.rows if is_compared(row)]
    if compared:
        within = sum(map(_is_within, compared))
        said = f"{within} of {len(compared)} published numbers lie in the 95 % interval of the new one"
        return f"{said}{_furthest(compared)}."
    if exact := _computed(study):
        off = sorted(_off(row) for row in exact)
        median = quantity(off[len(off) // 2], "share", 0)
        return f"Half of {len(exact)} published numbers are within {median} of the new ones."
    measured = [row for row in study.rows if row.ours.value is not None]
    if not measured:
        return "No number of the study could be measured."
    if _contending(study):
        return _best(measured, study)
    first = measured[0]
    value = quantity(first.ours.value or 0.0, first.ours.unit, 0)
    table, *_ = BRACKET.split(first.table)
    return f"{agent}: {inline(first.quantity)} {value} ({inline(table)})."


def _contending(study: Study) -> bool:
    """Whether reward models contend, so that no agent is evaluated."""
    measures = (one for result in study.results.values() for one in result.measures)
    return not study.claim and any(measure.contender for measure in measures)


def _best(measured: Sequence[Comparison], study: Study) -> str:
    """The contender with the best number in the last column that has any."""
    first_table = measured[0].table
    table = [
        row
        for row in measured
        if row.table == first_table and row.differs != READS_TRUTH
    ]
    every = [row for row in table if row.column == table[-1].column]
    blind = [row for row in every if row.differs == READS_NOTHING]
    column = [row for row in every if row not in blind] or every
    first = next(iter(study.results.values()))
    measure = first.meanings[column[0].ours.name]
    sign = 1 if measure.better == "less" else -1

    def rank(row: Comparison) -> float:
        return sign * (row.ours.value or 0.0)

    best = min(column, key=rank)
    most = "least" if measure.better == "less" else "most"
    value = quantity(best.ours.value or 0.0, best.ours.unit, 0)
    if best.paper is not None:
        value += f", published {number(best.paper, best.ours.unit, 0)}"
    if best.differs and best.differs != READS_NOTHING:
        value += f" ({best.differs})"
    where = f" ({best.column})" if best.column else ""
    title = inline(measure.title)
    if not blind or blind == column:
        return f"Of {len(column)} contenders, {_named(best)} has the {most} {title}{where}: {value}."
    rival = min(blind, key=rank)
    without = quantity(rival.ours.value or 0.0, rival.ours.unit, 0)
    if rank(rival) < rank(best):
        return (
            f"{_named(rival)}, which {READS_NOTHING}, has the {most} {title}{where}: {without}; "
            f"the best of {len(column)} that read, {_named(best)}, has {value}."
        )
    return (
        f"Of {len(column)} contenders, {_named(best)} has the {most} {title}{where}: {value}; "
        f"{_named(rival)}, which {READS_NOTHING}, has {without}."
    )


def _named(row: Comparison) -> str:
    return row.quantity.removesuffix(f", {row.column}")


def _furthest(compared: Sequence[Comparison]) -> str:
    """The number that is the most intervals away from the published one."""
    apart = [row for row in compared if not _is_within(row)]
    if not apart:
        return ""

    def distance(row: Comparison) -> float:
        low, high = row.ours.interval or (0.0, 0.0)
        return abs(row.difference or 0.0) / max(high - low, 1e-9)

    row = max(apart, key=distance)
    assert row.ours.value is not None and row.paper is not None
    unit = row.ours.unit
    ours = quantity(row.ours.value, unit, 0)
    return f"; furthest off is {inline(row.quantity)}: {ours}, published {number(row.paper, unit, 0)}"


def _limits(study: Study) -> Iterator[str]:
    results = [*study.results.values()]
    agents = grouped(results, lambda one: one.subject.agent)
    yield from answers_limit(agents)
    yield from record_limits(results)
    printed = [
        row
        for row in study.rows
        if row.paper is not None and row.ours.value is not None
    ]
    left = sum(not is_compared(row) for row in printed)
    if left and not _computed(study):
        yield f"{left} published numbers not compared (other method, or below {FEWEST} worlds)"
    if missing := sum(row.ours.value is None for row in study.rows):
        yield f"{missing} of {len(study.rows)} numbers not measured"
    if study.results and study.scale < 1:
        whole = "full" if study.claim else "published"
        yield f"{quantity(study.scale, 'share', 0)} of the {whole} size"
    yield from worlds_limit(results)


def is_compared(row: Comparison) -> bool:
    """Whether our number was found by the published method in worlds enough."""
    is_ours = bool(row.ours.interval) and row.ours.n >= FEWEST
    return row.paper is not None and not row.differs and is_ours


def _computed(study: Study) -> list[Comparison]:
    """The rows of a study without runs whose numbers are exact."""
    if study.results:
        return []
    return [row for row in study.rows if row.difference is not None and row.paper]


def _off(row: Comparison) -> float:
    """The difference as a share of the published number."""
    return abs((row.difference or 0.0) / (row.paper or 1.0))


def _is_within(row: Comparison) -> bool:
    assert row.ours.interval is not None and row.paper is not None
    low, high = row.ours.interval
    return low <= row.paper <= high


def forest(study: Study) -> list[Group]:
    """The first numbers that have a published one or a control beside them, else the
    first numbers; a group for each table and unit.
    """
    # A p value has no place on an axis.
    drawn = [
        (row.table, _row(row, study))
        for row in study.rows
        if row.ours.value is not None and row.ours.unit != "probability"
    ]
    drawn = [one for one in drawn if one[1].word] or drawn
    groups: list[Group] = []
    for title, rows in grouped(drawn[:SHOWN], lambda one: one[0]).items():
        groups += on_axes("did", title, [row for _, row in rows])
    return groups


def _row(row: Comparison, study: Study) -> Row:
    ours = row.ours
    measure = Measure(ours.name, row.quantity, ours.unit)
    if row.paper is None:
        # Beside numbers of a profile stand those of controls and other agents.
        control, rival = _control(row) if study.claim else ("", None)
        beside = Beside(measure=measure, ours=ours, control=control, rival=rival)
        return row_of(row.quantity, beside)

    printed = Measurement(name=ours.name, value=row.paper, unit=ours.unit, n=0)
    beside = Beside(measure=measure, ours=ours, control=PUBLISHED, rival=printed)
    mark, word = "?", "not compared"
    if is_compared(row):
        mark, word = ("~", "within") if _is_within(row) else ("\u2260", "outside")
    elif row in _computed(study):
        off = _off(row)
        mark, word = "\u2260" if off >= CLOSE else "~", f"{100 * off:.0f} % off"
    return replace(row_of(row.quantity, beside), mark=mark, word=word)


def _control(row: Comparison) -> tuple[str, Measurement | None]:
    """What the verdict is against, else the first of the numbers beside ours."""
    for name, one in row.others.items():
        if one.n:
            # The verdict is on our number, wherever the other one is from.
            return name, replace(one, verdict=row.ours.verdict)
    return "", None
