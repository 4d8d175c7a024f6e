"""gde compare: runs over the worlds they share, and the ranking of several."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.compared_rows import COLUMNS, cells, probability
from gde.cli.output import (
    EXIT_PARTIAL,
    columns,
    interval,
    plain,
    say,
    show_json,
    show_table,
    tell,
)

if TYPE_CHECKING:
    from gde.comparisons.comparison import Comparison
    from gde.comparisons.differences import ProbeRow, Row
    from gde.comparisons.leaderboard import Leaderboard
    from gde.comparisons.regression import Check
    from gde.comparisons.worlds import WorldsOfBoth
    from gde.numerics.leaderboard import Standing

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


def command(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Folders of runs or of contests."),
    ],
    fail_if_worse: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-if-worse",
            metavar="NAME",
            help="Exit with 3 if the second run is worse than the first in this measurement; repeatable.",
        ),
    ] = None,
    episodes: Annotated[
        str | None,
        typer.Option(
            "--episodes",
            metavar="NAME",
            help="List the worlds in which one of two runs is better in this measurement, with their episodes.",
        ),
    ] = None,
    every: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Compare runs over the worlds that they share.

    Differences are paired, and p values are corrected after Holm (1979). Of two runs,
    the headlines of the second stand beside those of the first. --all prints every
    measurement of whole worlds, of which those that are equal in every world are tested
    once, and each headline of a probe with the tests against its strongest control and
    of B against A. --episodes success lists the worlds where only one run
    reaches the goal; `gde view --serve` plays both ways side by side. --json adds effect
    sizes, breakdowns, further fits and further tests.

    Of more runs, every pair is compared, all corrected together, and they are ranked by
    their first headline, with the settings in which they differ.

    Of runs with reward models, a leaderboard ranks all reward models by task, each
    beside the best baseline that reads nothing.
    """
    from gde.comparisons.comparison import compare_runs, comparison_json, named
    from gde.comparisons.leaderboard import rank_contenders
    from gde.errors import GdeError
    from gde.reporting.terminal.contest_screen import contest_screen

    of_two = fail_if_worse or episodes
    runs = [run for given in runs for run in _runs_of(given)]
    boards = rank_contenders(runs)
    if len(runs) == 2:
        asked = (fail_if_worse or [], episodes or "")
        _compare_two(runs, asked, boards, every, as_json)
        return
    if of_two or (len(runs) < 2 and not boards):
        raise GdeError(f"compare: wanted two runs; got {len(runs)}")
    found = compare_runs(named(runs)) if len(runs) > 1 else None
    if as_json:
        told = comparison_json(found) if found else {}
        ranked = [asdict(one) for one in boards]
        show_json({**told, "leaderboards": ranked})
        return
    if found:
        tell("\n".join(contest_screen(found, columns())))
        if found.reason:
            say(f"not compared: {found.reason}")
    _show_boards(boards)


def _runs_of(given: Path) -> "Iterable[Path]":
    """The run itself, or those of a contest."""
    from gde.comparisons.contest import is_contest, members

    return members(given).values() if is_contest(given) else [given]


def _compare_two(
    runs: Sequence[Path],
    asked: tuple[Sequence[str], str],
    boards: "Sequence[Leaderboard]",
    every: bool,
    as_json: bool,
) -> None:
    from gde.comparisons.comparison import compare_runs, named
    from gde.comparisons.regression import check_not_worse
    from gde.errors import GdeError
    from gde.reporting.contest import cautions
    from gde.reporting.terminal.pair_screen import pair_screen

    fail_if_worse, episodes = asked
    found = compare_runs(named(runs), episodes=episodes)
    if not found.compared:
        raise GdeError(found.reason)
    [compared] = found.compared
    checks = check_not_worse(compared, fail_if_worse)
    if as_json:
        told = {
            **asdict(compared),
            "checks": [asdict(one) for one in checks],
            "leaderboards": [asdict(one) for one in boards],
        }
        show_json(told)
    else:
        tell("\n".join(pair_screen(found, columns())))
        for text in cautions(found):
            say(text)
        if every:
            _show(found)
        elif not boards:
            say(f"all {len(compared.rows) + len(compared.probes)} rows: --all")
        _show_boards(boards)
        if compared.worlds:
            _show_worlds(compared.worlds)
        for one in checks:
            say(_checked(one))
    if not all(one.passed for one in checks):
        raise typer.Exit(EXIT_PARTIAL)


def _show(found: "Comparison") -> None:
    """The verdicts of both runs, every number of whole worlds, and the headlines of
    probes.
    """
    from gde.reporting.sentences import sentences

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


def _show_rows(rows: "Sequence[Row]") -> None:
    from gde.reporting.wording import counted

    if rows:
        widest = max(rows, key=lambda row: row.n)
        tell(f"shared worlds: {counted(widest.n, widest.clusters)}")
    differing = [row for row in rows if row.n_different != 0]
    if differing:
        show_table("", COLUMNS, [cells(row) for row in differing])
    equal = [row.title for row in rows if row.n_different == 0]
    if equal:
        tell(f"equal in every world: {'; '.join(equal)}")


def _show_boards(boards: "Sequence[Leaderboard]") -> None:
    for board in boards:
        rows = [_standing(one, board.notes) for one in board.standings]
        best = {}
        for one in board.standings:
            if one.verdict is not None:
                best[one.condition or OVERALL] = one.verdict.control
        show_table(board.title, STANDING_COLUMNS, rows)
        for condition, control in best.items():
            tell(f"{condition}: differences from {control}, which reads nothing")


def _show_worlds(found: "WorldsOfBoth") -> None:
    from gde.reporting.wording import heading, number, plural

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


def _standing(one: "Standing", notes: "Mapping[str, str]") -> tuple[str, ...]:
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


def _show_probes(rows: "Sequence[ProbeRow]") -> int:
    """Print the headlines of the main fit of each probe; return how many fits follow."""
    from gde.reporting.probe_differences import probe_tables

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


def _probe_lines(row: "ProbeRow") -> list[tuple[str, ...]]:
    """A line for each run and one for their difference, as in `PROBE_COLUMNS`."""
    from gde.reporting.probe_differences import (
        against_control,
        against_first,
        difference,
    )
    from gde.reporting.wording import estimate

    lines: list[tuple[str, ...]] = [
        (row.title, "A", estimate(row.a), against_control(row.a)),
        ("", "B", estimate(row.b), against_control(row.b)),
    ]
    if row.between is not None:
        lines.append(("", "B - A", difference(row), against_first(row)))
    return lines


def _checked(one: "Check") -> str:
    """The outcome of a check in one line."""
    from gde.reporting.wording import bounds, difference_quantity

    outcome = "not worse" if one.passed else "worse"
    if one.p is None and not one.passed:
        outcome = f"not tested, {one.reason}"
    around = bounds(one.interval, one.unit)
    p = "" if one.p is None else f", p {probability(one.p)}"
    numbers = f"{difference_quantity(one.difference, one.unit)} {around}".rstrip()
    return f"{one.title}: {outcome} ({numbers}{p})"
