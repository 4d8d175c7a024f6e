"""gde work: take part in a run of another process."""

import typer

from gde.cli import options


def command(run: options.Run) -> None:
    """Take part in a run that another process of this machine has with `--executor leases`, until nothing is left."""
    from gde.executors.joining import join

    done = join(run)
    typer.echo(f"ok: {run}: {done} leases", err=True)
