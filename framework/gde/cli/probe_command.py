"""gde probe: probe a finished run again."""

from dataclasses import replace
from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import progress, show_result


def command(
    run: options.Run,
    probe: Annotated[list[str] | None, typer.Option(help="Probe; default: those of the plan.")] = None,
    settings: options.Set = None,
    as_json: options.Json = False,
) -> None:
    """Probe a finished run again, e.g. another layer: --probe cogmap --set cogmap.layer=3."""
    from gde.data.plan import Choice
    from gde.errors import UnknownName
    from gde.request.settings import parse_settings
    from gde.runs.evaluating import probe as probe_again

    parsed = parse_settings(settings or [])
    choices = [Choice(name=name) for name in probe or ()]
    choices = [replace(choice, config=parsed.pop(choice.name, {})) for choice in choices]
    if parsed:
        raise UnknownName("probe of --set", next(iter(parsed)), probe or ())
    with progress(quiet=as_json) as watch:
        result = probe_again(run, choices, watch=watch)
    show_result(result, as_json)
