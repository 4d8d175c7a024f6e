"""gde rescore: compute the metrics of a finished run again."""

from typing import Annotated

import typer

from gde.cli import options
from gde.cli.output import show_result


def command(
    run: options.Run,
    metric: Annotated[list[str] | None, typer.Option(help="Metric; default: those of the plan.")] = None,
    as_json: options.Json = False,
) -> None:
    """Compute the metrics of a finished run again, the plan's or others; the agent is not asked."""
    from gde.data.plan import Choice
    from gde.runs.evaluating import rescore

    show_result(rescore(run, [Choice(name=name) for name in metric or ()]), as_json)
