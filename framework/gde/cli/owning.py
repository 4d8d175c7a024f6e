"""Run folders that a command writes to."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gde.cli.output import say
from gde.errors import GdeError, RunFailed


@contextmanager
def owned(run: Path) -> Iterator[Path]:
    """The folder, or where it was not made here, a copy, which the user is told of.

    A refused request leaves no copy behind.
    """
    from gde.runs.contest import to_write

    own = to_write(run)
    if own == run:
        yield run
        return
    try:
        yield own
    except RunFailed:
        # Finished work is kept.
        raise
    except GdeError:
        shutil.rmtree(own, ignore_errors=True)
        raise
    finally:
        if own.exists():
            say(f"{run} was made elsewhere or its plan was edited: copied to {own}")
