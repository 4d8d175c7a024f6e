"""gde compare: two runs over the worlds they share."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gde.cli import options
from gde.cli.output import plain, say, show_json, show_table, tell

if TYPE_CHECKING:
    from gde.runs.differences import Compared, Row, Side

COLUMNS = (
    "measurement",
    "A",
    "B",
    "B - A",
    "95 % interval",
    "detectable",
    "effect",
    "q (BH)",
    "p (Holm)",
    "worlds",
)


def command(
    run_a: Annotated[Path, typer.Argument(metavar="RUN_A", help="Run folder.")],
    run_b: Annotated[Path, typer.Argument(metavar="RUN_B", help="Another run folder.")],
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Compare runs without shared worlds.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Compare two runs over the worlds that they share.

    Differences are paired, and p values are corrected after Holm (1979). The effect is
    the matched-pairs rank-biserial correlation (Kerby 2014). "Detectable" is the
    smallest difference that 80 % of such studies would find. Rows are measurements of
    whole worlds. If two rows are equal in every world, only one is tested. --json adds
    breakdowns and further tests.
    """
    from gde.runs.comparing import compare

    compared = compare(run_a, run_b, paired=not unpaired)
    if as_json:
        show_json({"schema": 1, **asdict(compared)})
    else:
        _show(compared)


def _show(compared: "Compared") -> None:
    for name, side in zip("AB", compared.runs, strict=True):
        tell(f"{name}: {_described(side)}")
    whole = [row for row in compared.rows if not row.where]
    show_table("", COLUMNS, [_cells(row, compared.paired) for row in whole])
    for note in compared.notes:
        say(note)
    if len(whole) < len(compared.rows):
        say(f"{len(compared.rows) - len(whole)} more rows by breakdown: --json")


def _described(side: "Side") -> str:
    of = side.subject
    model = f" with {of.model}" if of.model else ""
    return f"{of.agent}{model} in {of.environment}, {of.episodes} episodes in {of.worlds} worlds ({side.run})"


def _cells(row: "Row", paired: bool) -> tuple[str, ...]:
    """The cells of a row, in the order of `COLUMNS`."""
    from gde.reporting.wording import counted

    worlds = counted(row.n, row.clusters)
    if not paired:
        worlds = f"{worlds}, {counted(row.n_b, row.clusters_b)}"
    interval = ""
    if row.interval is not None:
        low, high = row.interval
        interval = f"[{plain(low, '+')}, {plain(high, '+')}]"
    return (
        row.title,
        plain(row.a),
        plain(row.b),
        plain(row.difference, "+"),
        interval,
        "" if row.mde is None else plain(row.mde),
        "" if row.rank_biserial is None else f"{row.rank_biserial:+.2f}",
        "" if row.q is None else _probability(row.q),
        row.reason if row.p is None else _probability(row.p),
        worlds,
    )


def _probability(value: float) -> str:
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"
