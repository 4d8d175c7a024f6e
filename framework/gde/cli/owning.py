"""Run folders that a command writes to."""

from pathlib import Path

from gde.cli.output import say


def owned(run: Path) -> Path:
    """The folder, or where it was not made here, a copy, which the user is told of."""
    from gde.runs.contest import to_write

    own = to_write(run)
    if own != run:
        say(f"{run} was made elsewhere or its plan was edited: copied to {own}")
    return own
