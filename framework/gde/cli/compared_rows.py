"""The tables of `gde compare` in the terminal."""

from collections.abc import Mapping, Sequence

from gde.cli.output import interval, plain, say, show_table, tell
from gde.comparisons.comparison import Comparison
from gde.comparisons.differences import ProbeRow, Row
from gde.comparisons.leaderboard import Leaderboard
from gde.comparisons.regression import Check
from gde.comparisons.worlds import WorldsOfBoth
from gde.numerics.leaderboard import Standing
from gde.reporting.contest import CLEAR
from gde.reporting.probe_differences import (
    against_control,
    against_first,
    difference,
    probe_tables,
)
from gde.reporting.sentences import sentences
from gde.reporting.wording import (
    bounds,
    counted,
    difference_quantity,
    estimate,
    heading,
    number,
    plural,
)

STANDING_COLUMNS = (
    "condition",
    "contender",
    "value",
    "95 % interval",
    "difference",
    "95 % interval",
    "p (Holm)",
)
"""They fit into 80 columns of a terminal; `--json` has all numbers."""
OVERALL = "overall"
MOST_WORLDS = 20
"""That a table lists."""
PROBE_COLUMNS = ("headline", "run", "value", "paired test")
COLUMNS = ("measurement", "A", "B", "B - A", "95 % interval", "p (Holm)")
"""They fit into 80 columns of a terminal; `--json` has all numbers."""


def cells(row: Row) -> tuple[str, ...]:
    """The cells of a row, in the order of `COLUMNS`."""
    p = row.reason.removeprefix("not measured: ")
    if row.p is not None:
        p = probability(row.p)
        if row.p >= CLEAR and row.mde is not None:
            p = f"{p} ({number(row.mde, row.unit)} would show)"
    sign = "+" if row.difference > 0 else ""
    return (
        heading(row.title, row.unit),
        number(row.a, row.unit),
        number(row.b, row.unit),
        f"{sign}{number(row.difference, row.unit)}",
        bounds(row.interval, row.unit),
        p,
    )


def probability(value: float) -> str:
    """A p value with four decimals."""
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def show_all(found: Comparison) -> None:
    """The verdicts of both runs, every number of whole worlds, and the headlines of
    probes.
    """
    for name, result in found.results.items():
        for sentence in sentences(result.measurements, result.meanings):
            say(f"{name}: {sentence}")
    [compared] = found.compared
    whole = [row for row in compared.rows if not row.where]
    _show_rows(whole)
    more_fits = _show_probes(compared.probes)
    if len(whole) < len(compared.rows):
        say(f"{len(compared.rows) - len(whole)} more rows by breakdown: --json")
    if more_fits:
        say(f"{more_fits} more fits of probes: --json")


def _show_rows(rows: Sequence[Row]) -> None:
    if rows:
        widest = max(rows, key=lambda row: row.n)
        tell(f"shared worlds: {counted(widest.n, widest.clusters)}")
    differing = [row for row in rows if row.n_different != 0]
    if differing:
        show_table("", COLUMNS, [cells(row) for row in differing])
    equal = [row.title for row in rows if row.n_different == 0]
    if equal:
        tell(f"equal in every world: {'; '.join(equal)}")


def show_boards(boards: Sequence[Leaderboard]) -> None:
    """A table for each leaderboard, and what differences are from."""
    for board in boards:
        rows = [_standing(one, board.notes) for one in board.standings]
        best = {}
        for one in board.standings:
            if one.verdict is not None:
                best[one.condition or OVERALL] = one.verdict.control
        show_table(board.title, STANDING_COLUMNS, rows)
        for condition, control in best.items():
            tell(f"{condition}: differences from {control}, which reads nothing")


def show_worlds(found: WorldsOfBoth) -> None:
    """The worlds in which A is better, and those in which B is."""
    tell(f"equal in {plural(found.equal, 'world')}")
    columns = (*("world", "A", "B"), *("episodes of A", "episodes of B"))
    for better in ("a", "b"):
        worlds = [one for one in found.worlds if one.better == better]
        rows = [
            (
                one.world,
                number(one.a, found.unit),
                number(one.b, found.unit),
                " ".join(one.episodes_a),
                " ".join(one.episodes_b),
            )
            for one in worlds[:MOST_WORLDS]
        ]
        title = f"{heading(found.title, found.unit)}: {better.upper()} is better"
        if rows:
            show_table(f"{title} in {plural(len(worlds), 'world')}", columns, rows)
        if len(worlds) > len(rows):
            say(f"{plural(len(worlds) - len(rows), 'world')} more: --json")


def _standing(one: Standing, notes: Mapping[str, str]) -> tuple[str, ...]:
    """The cells of a contender, in the order of `STANDING_COLUMNS`."""
    said = [notes.get(one.contender, ""), "reads nothing" if one.baseline else ""]
    told = ", ".join(filter(None, said))
    verdict = one.verdict
    beside = ("", "", "")
    if verdict is not None:
        beside = (
            plain(verdict.difference, "+"),
            interval(verdict.interval, "+"),
            verdict.reason if verdict.p is None else probability(verdict.p),
        )
    return (
        one.condition or OVERALL,
        f"{one.contender} ({told})" if told else one.contender,
        plain(one.value),
        interval(one.interval) or one.reason,
        *beside,
    )


def _show_probes(rows: Sequence[ProbeRow]) -> int:
    """Print the headlines of the main fit of each probe; return how many fits follow."""
    shown = set()
    n_more = 0
    for table in probe_tables(rows):
        if table.probe in shown:
            n_more += 1
            continue
        shown.add(table.probe)
        lines = [line for row in table.rows for line in _probe_lines(row)]
        show_table(table.title, PROBE_COLUMNS, lines)
    return n_more


def _probe_lines(row: ProbeRow) -> list[tuple[str, ...]]:
    """A line for each run and one for their difference, as in `PROBE_COLUMNS`."""

    lines: list[tuple[str, ...]] = [
        (row.title, "A", estimate(row.a), against_control(row.a)),
        ("", "B", estimate(row.b), against_control(row.b)),
    ]
    if row.between is not None:
        lines.append(("", "B - A", difference(row), against_first(row)))
    return lines


def checked(one: Check) -> str:
    """The outcome of a check in one line."""
    outcome = "not worse" if one.passed else "worse"
    if one.p is None and not one.passed:
        outcome = f"not tested, {one.reason}"
    around = bounds(one.interval, one.unit)
    p = "" if one.p is None else f", p {probability(one.p)}"
    numbers = f"{difference_quantity(one.difference, one.unit)} {around}".rstrip()
    return f"{one.title}: {outcome} ({numbers}{p})"
