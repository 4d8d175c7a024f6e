"""What commands print: data to stdout, talk to stderr."""

import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from gde.cli.foreign import escaped, shown
from gde.errors import INTERRUPTED

if TYPE_CHECKING:
    from gde.data.result import Measurement, Result
    from gde.stages.progress import Progress, Watch

LINE_EVERY = 10.0
"""Seconds between two lines of progress where no terminal is there to redraw."""
REPORT = "report.html"
"""In the run folder, where the reporter that ships with the framework was asked."""
EXIT_PARTIAL = 3


def say(text: str) -> None:
    """Talk: one line to stderr."""
    typer.echo(shown(text), err=True)


def tell(text: str, end: bool = True) -> None:
    """Data: text to stdout."""
    typer.echo(shown(text), nl=end)


def show_json(value: Any) -> None:
    """Data: one JSON object to stdout."""
    typer.echo(escaped(json.dumps(value, ensure_ascii=False)))


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Data: a table to stdout."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=None, header_style="bold")
    for column in columns:
        table.add_column(Text(shown(column)), overflow="fold")
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))  # as text, in which [x] is no markup
    console = Console(soft_wrap=not sys.stdout.isatty(), width=None if sys.stdout.isatty() else 200, highlight=False)
    console.print(table)


def show_result(result: "Result", as_json: bool, show_all: bool = False) -> None:
    """The result, on one screen unless all of it is wanted, and the exit code that says how the run went."""
    from gde.shipped.reporters.screen import screen
    from gde.store.folder import result_json

    if as_json:
        show_json(result_json(result))
    else:
        report = Path(result.run) / REPORT
        glance = screen(result, str(report) if report.is_file() else "")
        if show_all:
            show_measurements(result.measurements)
        else:
            tell("\n".join(glance.finding))
        say("\n".join(glance.notes))
    if result.status != "ok":
        raise typer.Exit(EXIT_PARTIAL)


def show_measurements(measurements: Sequence["Measurement"]) -> None:
    """Every number under its own name."""
    rows = [(each.name, place(each), number(each), interval(each), each.unit, str(each.n)) for each in measurements]
    show_table("", ("measurement", "where", "value", "95 % interval", "unit", "n"), rows)


def place(measurement: "Measurement") -> str:
    """What the measurement is restricted to."""
    return " ".join(f"{name}={value}" for name, value in measurement.where.items())


def number(measurement: "Measurement") -> str:
    """The value, or the reason why there is none."""
    return measurement.reason if measurement.value is None else f"{measurement.value:.3f}"


def interval(measurement: "Measurement") -> str:
    """The interval, empty where none is defined."""
    return "" if measurement.interval is None else "[{:.3f}, {:.3f}]".format(*measurement.interval)


@contextmanager
def talking() -> Iterator[None]:
    """What parts print while the context lasts is no data: it goes to stderr."""
    with redirect_stdout(sys.stderr):
        yield


@contextmanager
def progress(quiet: bool) -> Iterator["Watch"]:
    """A watcher for a run, and the exit code of one that is interrupted."""
    try:
        with talking(), _watch(quiet) as watch:
            yield watch
    except KeyboardInterrupt as interrupt:
        folder = "".join(getattr(interrupt, "__notes__", ["RUN"])[:1])
        say(f"gde: interrupted; what was finished is kept, go on with `gde resume {folder}`")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _watch(quiet: bool) -> Iterator["Watch"]:
    """A bar on a terminal, a line now and then elsewhere, nothing where quiet is wanted."""
    from gde.stages.progress import ignore

    if quiet:
        yield ignore
    elif sys.stderr.isatty():
        with _bar() as watch:
            yield watch
    else:
        yield _Lines()


class _Lines:
    """One plain line per interval, and one when a stage is done."""

    def __init__(self) -> None:
        self._stage, self._last = "", 0.0

    def __call__(self, progress: "Progress") -> None:
        now = time.monotonic()
        done = progress.done == progress.total
        if (progress.stage, done) == (self._stage, True) or (not done and now - self._last < LINE_EVERY):
            return
        self._stage, self._last = progress.stage if done else "", now
        say(f"{progress.stage}: {progress.done}/{progress.total}")


@contextmanager
def _bar() -> Iterator["Watch"]:
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def watch(progress: "Progress") -> None:
            if progress.stage not in tasks:
                tasks[progress.stage] = bars.add_task(progress.stage, total=progress.total)
            bars.update(tasks[progress.stage], completed=progress.done)

        yield watch
