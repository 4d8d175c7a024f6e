"""gde resume: resume an interrupted run."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show
from gde.cli.owning import owned
from gde.cli.progress import progress


def command(
    run: options.Run,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Repeat failed episodes; keep model answers."
        ),
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a limit: run.max_calls=900, run.concurrency=4, model.timeout=60.",
        ),
    ] = None,
    executor: Annotated[str, options.WHERE] = "",
    key_to: options.KeyTo = None,
    read: options.Read = None,
    show_all: options.All = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Resume an interrupted run; finished turns are kept.

    Only unfinished turns are repeated.
    """
    from gde.runs.contest import is_contest, resume_contest
    from gde.runs.evaluating import resume

    resume_either = resume_contest if is_contest(run) else resume
    with owned(run) as own, progress(quiet=quiet or as_json) as watch:
        found = resume_either(
            own,
            watch=watch,
            retry_failed=retry_failed,
            keys_to=key_to or (),
            reads=read or (),
            settings=settings or (),
            executor=executor,
        )
    show(found, as_json, show_all)
