"""gde report: render the reports of a finished run again."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, tell


def command(
    run: options.Run,
    reporter: Annotated[
        list[str] | None, typer.Option(help="Reporter; default: those of the plan.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Render the reports of a run again and print their files."""
    from gde.data.plan import Choice
    from gde.reporting.page_files import write_contest_page
    from gde.runs.adding import report
    from gde.runs.contest import is_contest, read_contest, report_contest

    choices = [Choice(name=name) for name in reporter or ()]
    if is_contest(run):
        page = write_contest_page(read_contest(run))
        files = [
            *([str(page)] if page else []),
            *map(str, report_contest(run, choices)),
        ]
    else:
        files = [*map(str, report(run, choices))]
    if as_json:
        show_json({"schema": 1, "files": files})
    else:
        for file in files:
            tell(file)
