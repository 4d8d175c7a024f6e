"""gde report: render the reports of a finished run again."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_json, tell


def command(
    run: options.Run,
    reporter: Annotated[list[str] | None, typer.Option(help="Reporter; default: those of the plan.")] = None,
    as_json: options.Json = False,
) -> None:
    """Render the reports of a finished run again and print the files to open."""
    from gde.data.plan import Choice
    from gde.runs.adding import report

    files = [str(path) for path in report(run, [Choice(name=name) for name in reporter or ()])]
    if as_json:
        show_json({"schema": 1, "files": files})
    else:
        for file in files:
            tell(file)
