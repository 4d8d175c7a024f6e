"""gde rescore: compute metrics of a finished run."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_result, talking


def command(
    run: options.Run,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric or group to add; default: all that the run has, anew.")
    ] = None,
    settings: options.Set = None,
    key_to: options.KeyTo = None,
    show_all: options.All = False,
    as_json: options.Json = False,
) -> None:
    """Add metrics to a run, or compute those it has anew; the agent is not asked, and what else was found stays."""
    from gde.errors import UnknownName
    from gde.request.building import choose, configured
    from gde.request.settings import parse_settings
    from gde.runs.adding import rescore

    parsed = parse_settings(settings or [])
    choices = configured([choose(name) for name in metric or ()], parsed)
    if parsed:
        raise UnknownName("metric of --set", next(iter(parsed)), metric or ())
    with talking():
        result = rescore(run, choices, keys_to=key_to or ())
    show_result(result, as_json, show_all)
