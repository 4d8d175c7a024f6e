"""The output of commands: data to stdout, messages to stderr."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

from gde.cli.descriptors import output_to_errors
from gde.cli.foreign import escaped, shown

if TYPE_CHECKING:
    from gde.comparisons.contest import Contest
    from gde.data.result import Failure, Measurement, Result

REPORT = "report.html"
"""The page in a run folder, by the bundled reporter."""
EXIT_PARTIAL = 3
WIDTHS = 60, 200
"""The narrowest and the widest screen, in columns."""
DEBUG = "GDE_DEBUG"
"""The environment variable that `gde --debug` sets: errors and failures are shown with
their tracebacks.
"""


def say(text: str) -> None:
    """Print a message: one line to stderr."""
    typer.echo(shown(text), err=True)


def tell(text: str, end: bool = True) -> None:
    """Print data: text to stdout."""
    typer.echo(shown(text), nl=end)


def show_json(value: Mapping[str, Any]) -> None:
    """Print data: one JSON object with its schema to stdout."""
    typer.echo(escaped(json.dumps({"schema": 1, **value}, ensure_ascii=False)))


def show_variants(values: dict[str, Any]) -> None:
    """Print data: a JSON object for one plan, or one object with all."""
    if len(values) == 1:
        (only,) = values.values()
        show_json(only)
    else:
        show_json({"variants": values})


def show_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Print data: a table to stdout."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Titles too come from folders and plugins.
    heading = Text(shown(title)) if title else None
    table = Table(title=heading, title_justify="left", box=None, header_style="bold")
    for column in columns:
        table.add_column(Text(shown(column)), overflow="fold")
    for row in rows:
        # As text, in which [x] is no markup.
        table.add_row(*(Text(shown(cell)) for cell in row))
    console = Console(
        soft_wrap=not sys.stdout.isatty(),
        width=None if sys.stdout.isatty() else 220,
        highlight=False,
    )
    console.print(table)


def show(found: "Result | Contest", as_json: bool, show_all: bool) -> None:
    """Print a run or a contest, and exit with 3 where there were failures."""
    from gde.comparisons.contest import Contest

    if isinstance(found, Contest):
        show_contest(found, as_json, show_all)
    else:
        show_result(found, as_json, show_all)


def show_result(result: "Result", as_json: bool, show_all: bool = False) -> None:
    """Print a result; exit with 3 if the run had failures."""
    from gde.reporting.pages import no_report
    from gde.reporting.terminal.screen import screen
    from gde.store.folder import result_json

    if as_json:
        show_json(result_json(result))
    else:
        report = Path(result.run) / REPORT
        shown_report = str(report) if report.is_file() else no_report()
        glance = screen(result, shown_report, columns())
        for line in glance.header:
            tell(line)
        if show_all:
            show_measurements(result.measurements)
        else:
            tell("\n".join(glance.finding))
        say("\n".join(glance.notes))
    _show_tracebacks(result.failures)
    if result.status != "ok":
        raise typer.Exit(EXIT_PARTIAL)


def _show_tracebacks(failures: Sequence["Failure"]) -> None:
    """Print the tracebacks of failures to stderr, under `gde --debug`."""
    if not os.environ.get(DEBUG):
        return
    for one in failures:
        if one.traceback:
            say(f"failed: {one.stage} {one.subject}: {one.reason}\n{one.traceback}")


def show_contest(found: "Contest", as_json: bool, show_all: bool) -> None:
    """Print several agents' results side by side; exit with 3 after failures."""
    from gde.comparisons.contest import contest_json
    from gde.reporting.pages import write_page
    from gde.reporting.terminal.contest_screen import contest_screen

    page, missing = write_page(found)
    if as_json:
        show_json(contest_json(found))
    elif show_all:
        for name, result in found.results.items():
            tell(f"{name}:")
            show_measurements(result.measurements)
    else:
        tell("\n".join(contest_screen(found, columns())))
    if not as_json:
        if found.reason:
            say(f"not compared: {found.reason}")
        say(f"report: {page}" if page else f"no page: {missing}")
        say(f"{found.status}: {found.folder}")
    if found.status != "ok":
        raise typer.Exit(EXIT_PARTIAL)


def columns() -> int:
    """The width of the terminal, within the widths that screens are made for."""
    narrowest, widest = WIDTHS
    return min(max(get_terminal_size((80, 24)).columns, narrowest), widest)


def show_measurements(measurements: Sequence["Measurement"]) -> None:
    """Every number under its own name."""
    columns = (
        "measurement",
        "where",
        "value",
        "95 % interval",
        "unit",
        "n",
        "clusters",
    )
    rows = []
    for each in measurements:
        clusters = "" if each.clusters is None else str(each.clusters)
        row = (
            each.name,
            place(each),
            number(each),
            interval(each.interval) or (each.reason if each.value is not None else ""),
            each.unit,
            str(each.n),
            clusters,
        )
        rows.append(row)
    show_table("", columns, rows)


def place(measurement: "Measurement") -> str:
    """The labels that the measurement is restricted to."""
    return " ".join(f"{name}={value}" for name, value in measurement.where.items())


def number(measurement: "Measurement") -> str:
    """The value, or the reason why there is none."""
    if measurement.value is None:
        return measurement.reason
    from gde.reporting.wording import LEAST

    # Rounded, a small p value would read as zero.
    if measurement.unit == "probability" and measurement.value < LEAST:
        return f"< {LEAST}"
    return plain(measurement.value)


def interval(bounds: tuple[float, float] | None, sign: str = "") -> str:
    """An interval with numbers as of `plain`, empty where none is defined."""
    if bounds is None:
        return ""
    return f"[{', '.join(plain(each, sign) for each in bounds)}]"


@contextmanager
def talking() -> Iterator[None]:
    """Send everything that parts and their programs print to stderr.

    Standard output is for data.
    """
    with output_to_errors(), redirect_stdout(sys.stderr):
        yield


def plain(value: float, sign: str = "") -> str:
    """A number with three decimals; zero never has a sign.

    With `sign` "+", positive numbers have a sign.
    """
    rounded = round(value, 3)
    return f"{rounded:{sign}.3f}" if rounded else "0.000"
