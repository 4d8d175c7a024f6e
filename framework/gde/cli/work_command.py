"""gde work: take part in a run of another process."""

import typer

from gde.cli import options


def command(run: options.Run) -> None:
    """Work on a run that another process has with leases.

    The other process is on this machine and has `--executor leases`. The command ends when no episode is left.
    """
    from gde.executors.joining import join

    done = join(run)
    typer.echo(f"ok: {run}: {done} leases", err=True)
