"""gde report: render the reports of a finished run again."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, tell


def command(
    run: options.Run,
    reporter: Annotated[
        list[str] | None, typer.Option(help="Reporter; default: those of the run.")
    ] = None,
    out: Annotated[
        Path | None, options.out("Another folder, for a run that you do not trust.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Render the reports of a run again and print their files."""
    from gde.comparisons.contest import is_contest, read_contest, report_contest
    from gde.data.plan import Choice
    from gde.errors import ConfigError, GdeError
    from gde.reporting.pages import no_report, write_page
    from gde.runs.adding import report

    choices = [Choice(name=name) for name in reporter or ()]
    files: list[Path] = []
    if is_contest(run):
        if out is not None:
            raise ConfigError(f"--out: name a run of the contest {run}")
        files += report_contest(run, choices)
        page, _ = write_page(read_contest(run))
        if page:
            files.insert(0, page)
    else:
        files += report(run, choices, out=out)
    if not files:
        why = no_report() or "name a reporter with --reporter"
        raise GdeError(f"no report of {run}: {why}")
    if as_json:
        show_json({"files": [*map(str, files)]})
    else:
        for file in files:
            tell(str(file))
