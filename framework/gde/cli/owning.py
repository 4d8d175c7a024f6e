"""Run folders that a command writes to."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gde.cli.output import say


@contextmanager
def owned(run: Path) -> Iterator[Path]:
    """The folder, or where it was not made here, a copy, which the user is told of."""
    from gde.runs.contest import to_write

    own = run
    try:
        with to_write(run) as own:
            yield own
    finally:
        if own != run and own.exists():
            say(f"{run} was made elsewhere or its plan was edited: copied to {own}")
