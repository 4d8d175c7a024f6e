"""gde rescore: compute metrics of a finished run."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show
from gde.cli.progress import progress


def command(
    run: options.Run,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Metric or group to add; default: recompute the metrics of the run."
        ),
    ] = None,
    settings: options.Set = None,
    executor: options.Where = "",
    show_all: options.All = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Add metrics to a run, or recompute its metrics.

    Keeps the episodes and all other results.
    """
    from gde.cli.going_on import where
    from gde.comparisons.contest import is_contest, rescore_contest
    from gde.request.building import asked_for
    from gde.runs.adding import rescore

    choices, _ = asked_for("metric", metric or (), settings or ())
    rescore_either = rescore_contest if is_contest(run) else rescore
    how = where(run, executor)
    with progress(quiet=quiet or as_json) as watch:
        found = rescore_either(run, choices, watch=watch, how=how)
    show(found, as_json, show_all)
