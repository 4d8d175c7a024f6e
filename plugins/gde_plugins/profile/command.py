"""gde profile: one agent in all kinds of worlds, on one page."""

from typing import Annotated

import typer

from gde.cli import options, reproduce_command

NAME = "profile"
"""The study that is run."""


def command(
    model: options.Model = None,
    weights: options.Weights = "",
    agent: Annotated[
        str, typer.Option(help="Agent to profile; see `gde list agents`.")
    ] = "gpt-oss",
    scale: Annotated[float, typer.Option(help="Share of the full size.")] = 1.0,
    dry_run: options.Dry = False,
    no_preflight: options.NoPreflight = False,
    settings: options.Set = None,
    executor: Annotated[str, options.WHERE] = "serial",
    out: options.StudyOut = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Say on one page what an agent does, believes and wants.

    Scripted agents play the same worlds, and so do further models of --model a,b. What
    the agent cannot be asked has a reason.
    """
    asked = []
    others: list[str] = []
    for each in model or []:
        first, *more = each.split(",")
        asked.append(first)
        others += more
    if weights:
        settings = [*(settings or []), f"study.weights={weights}"]
    if others:
        settings = [*(settings or []), f"study.models={','.join(others)}"]
    reproduce_command.command(
        NAME,
        scale=scale,
        agent=agent,
        model=asked,
        dry_run=dry_run,
        no_preflight=no_preflight,
        settings=settings,
        executor=executor,
        out=out,
        as_json=as_json,
        quiet=quiet,
    )
