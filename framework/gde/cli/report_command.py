"""gde report: render the reports of a finished run again."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, tell
from gde.cli.owning import owned


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
    files: list[Path] = []
    with owned(run) as own:
        if is_contest(own):
            page = write_contest_page(read_contest(own))
            if page:
                files.append(page)
            files += report_contest(own, choices)
        else:
            files += report(own, choices)
    if as_json:
        show_json({"schema": 1, "files": [*map(str, files)]})
    else:
        for file in files:
            tell(str(file))
