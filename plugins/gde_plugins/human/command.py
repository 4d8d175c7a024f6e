"""gde play: play the worlds of an environment oneself."""

from pathlib import Path
from typing import Annotated

import typer

from gde.cli import eval_command, options


def command(
    env: Annotated[str, typer.Option(help="Environment, e.g. grid.")] = "grid",
    settings: options.Set = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Metric or group of metrics.")
    ] = None,
    episodes: Annotated[int, typer.Option(help="Number of worlds per condition.")] = 5,
    seed: Annotated[
        int, typer.Option(help="Root random seed: that of the agent's run.")
    ] = 0,
    out: Annotated[
        Path | None, options.out("Run folder to make; default: a new one under runs/.")
    ] = None,
) -> None:
    """Play worlds yourself, as a human baseline.

    `gde compare` sets the run beside any other with the same environment and seed.
    """
    eval_command.command(
        env=env,
        agent="human",
        settings=settings,
        metric=metric,
        episodes=episodes,
        seed=seed,
        concurrency=1,
        out=out,
        quiet=True,
    )
