"""What was found in each stratum of a sweep: tables, and heat maps where two or three settings are swept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gde.data.evidence import Evidence
from gde.data.figure import Figure
from gde.data.measure import Measure
from gde.data.result import Measurement, Result
from gde.reporting.findings import findings, headlines, probed, swept
from gde.reporting.maps import heat_map, panels
from gde.reporting.probe_tables import probe_stratum_table
from gde.reporting.tables import Table, stratum_table
from gde.reporting.wording import inline, labels_text, quantity

MAPS = {2: heat_map, 3: panels}
"""By the number of settings."""
ENTRANT = "agent"
"""The label of a panel."""
SHOWN = 2
"""Numbers of one headline that differ in what they are restricted to, as on the cards."""
Whole = tuple[Measure, Measurement]
"""What a number means, and its value in the whole run."""


@dataclass(frozen=True, kw_only=True)
class StratumMaps:
    """A map for each number that has values in the strata."""

    headlines: tuple[Figure, ...] = ()
    """Those of the run, and of the probe that the report speaks of, where they differ."""
    same: tuple[str, ...] = ()
    """Headlines that are the same in all strata, in words."""
    others: tuple[Figure, ...] = ()
    """Of what else differs anywhere."""


def stratum_maps(result: Result) -> StratumMaps:
    """The maps of a run; none where one setting was swept, or more than three."""
    settings = frozenset(swept(result))
    if len(settings) not in MAPS:
        return StratumMaps()
    first = [(measure, one) for measure, one in _first(result) if len(_cells(one, result, settings)) > 1]
    told = {(one.name, labels_text(one.where)) for _, one in first}
    plain = ((each.measure, one) for each in findings(result) for one in each.numbers if not one.where)
    rest = [(measure, one) for measure, one in plain if (one.name, "") not in told]
    return StratumMaps(
        headlines=tuple(_drawn(first, result, settings)),
        same=tuple(_same(first, result, settings)),
        others=tuple(_drawn(rest, result, settings)),
    )


def entrant_maps(results: Mapping[str, Result]) -> list[Figure]:
    """The headlines of several agents over the same two settings, a panel for each agent."""
    first, *_ = results.values()
    settings = frozenset(swept(first))
    if len(settings) != 2:
        return []
    found = []
    for measure, one in _first(first):
        cells = [
            replace(cell, where={**cell.where, ENTRANT: name})
            for name, result in results.items()
            for cell in _cells(one, result, settings)
        ]
        if _differs(cells):
            found.append(panels(measure.titled(one.where)[0], [*_keys(cells, settings), ENTRANT], cells))
    return found


def stratum_tables(result: Result, evidence: Evidence, strata: frozenset[str]) -> list[tuple[str, Table]]:
    """Caption and table of what the agent did in the strata, and of what the first probe decoded; none without."""
    found = {
        "The headlines by stratum, with 95 % intervals.": stratum_table(result, strata),
        "What the first probe above decoded, by stratum.": probe_stratum_table(evidence, strata, result.meanings),
    }
    return [(caption, table) for caption, table in found.items() if table is not None]


def _first(result: Result) -> Iterator[Whole]:
    for one in headlines(result):
        yield from ((one.measure, each) for each in one.numbers[:SHOWN])
    for probe in probed(result)[:1]:
        yield from ((each.measure, each.ours) for each in probe.numbers)


def _drawn(wholes: Sequence[Whole], result: Result, settings: frozenset[str]) -> Iterator[Figure]:
    for measure, one in wholes:
        if _differs(cells := _cells(one, result, settings)):
            title, _ = measure.titled(one.where)
            yield MAPS[len(settings)](title, _keys(cells, settings), cells)


def _same(wholes: Sequence[Whole], result: Result, settings: frozenset[str]) -> Iterator[str]:
    for measure, one in wholes:
        if not _differs(cells := _cells(one, result, settings)):
            yield f"{inline(measure.titled(one.where)[0])} {quantity(cells[0].value or 0.0, one.unit)}"


def _cells(whole: Measurement, result: Result, settings: frozenset[str]) -> list[Measurement]:
    """The number in each stratum where it has a value."""
    keys = whole.where.keys() | settings
    return [
        one
        for one in result.measurements
        if one.name == whole.name
        and one.value is not None
        and one.where.keys() == keys
        and one.where.items() >= whole.where.items()
    ]


def _keys(cells: Sequence[Measurement], settings: frozenset[str]) -> list[str]:
    """Rows, columns, panels: of most values the columns, and of fewest the panels, where there are any."""
    counts = {key: len({one.where[key] for one in cells}) for key in sorted(settings, reverse=True)}
    *others, row, column = sorted(counts, key=counts.__getitem__)
    return [row, column, *others]


def _differs(cells: Sequence[Measurement]) -> bool:
    return len({one.value for one in cells}) > 1
