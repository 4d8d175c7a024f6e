"""gde trust: let gde obey the plan of a run from elsewhere."""

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.foreign import one_line
from gde.cli.output import say, show_json, tell


def command(
    run: options.Run,
    yes: Annotated[
        bool, typer.Option("--yes", help="Trust without asking, for scripts.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Let gde obey the plan of a run that you did not play here.

    Shows what the plan would load, open and contact, then asks.
    """
    from gde.errors import GdeError
    from gde.runs.trusting import disclose, runs_in, trust_run

    runs = runs_in(run)
    shown = [disclose(one) for one in runs]
    if as_json:
        show_json({"runs": [asdict(one) for one in shown]})
    else:
        for one in shown:
            tell(one_line(one.run) + (" is trusted already" if one.trusted else ""))
            for line in one.lines:
                tell(f"  {one_line(line)}")
            for line in one.changed:
                tell(f"  changed since: {one_line(line)}")

    if not yes:
        if not sys.stdin.isatty():
            raise GdeError(f"{run} is not trusted: answer at a terminal, or add --yes")
        if not typer.confirm("Trust it?", err=True):
            raise typer.Exit(2)
    for each, seen in zip(runs, shown, strict=True):
        trust_run(each, seen)
    say(f"trusted: {', '.join(map(str, runs))}")
