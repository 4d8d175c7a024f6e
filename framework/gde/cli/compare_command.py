"""gde compare: runs over the worlds they share, and the ranking of several."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import (
    EXIT_PARTIAL,
    columns,
    say,
    show_json,
    tell,
)

if TYPE_CHECKING:
    from gde.comparisons.leaderboard import Leaderboard


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
    from gde.cli.compared_rows import show_boards
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
    show_boards(boards)


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
    from gde.cli.compared_rows import checked, show_all, show_boards, show_worlds
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
            "differing": found.differing,
            "checks": [asdict(one) for one in checks],
            "leaderboards": [asdict(one) for one in boards],
        }
        show_json(told)
    else:
        tell("\n".join(pair_screen(found, columns())))
        for text in cautions(found):
            say(text)
        if every:
            show_all(found)
        elif not boards:
            say(f"all {len(compared.rows) + len(compared.probes)} rows: --all")
        show_boards(boards)
        if compared.worlds:
            show_worlds(compared.worlds)
        for one in checks:
            say(checked(one))
    if not all(one.passed for one in checks):
        raise typer.Exit(EXIT_PARTIAL)
