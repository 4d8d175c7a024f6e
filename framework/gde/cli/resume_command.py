"""gde resume: resume an interrupted run."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show
from gde.cli.progress import progress


def command(
    run: options.Run,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed", help="Repeat failed episodes; keep model answers."
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL@URL", help="Where a model of the run is served now."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="How to go on: run.max_calls=900, run.concurrency=4, model.timeout=60.",
        ),
    ] = None,
    executor: options.Where = "",
    show_all: options.All = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Resume an interrupted run; finished turns are kept.

    Only unfinished turns are repeated.
    """
    from gde.comparisons.contest import is_contest, last_way, resume_contest
    from gde.request.building import amend_how
    from gde.runs.evaluating import resume

    resume_either = resume_contest if is_contest(run) else resume
    plan, last = last_way(run)
    how = amend_how(last, plan, settings or (), executor, model or ())
    with progress(quiet=quiet or as_json) as watch:
        found = resume_either(run, watch=watch, how=how, retry_failed=retry_failed)
    show(found, as_json, show_all)
