"""Files that are there completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from gde.errors import RunFailed


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file of the writer's own to write to. It takes the place of `path` at the end, or is gone where that fails.

    Raises:
        RunFailed: it cannot be written; what is in its place is as it was.
    """
    unfinished: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        unfinished = Path(name)
        yield unfinished
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except OSError as error:
        reason = f"{error.strerror or error}; what was finished is kept: make room or give access, and build again"
        raise RunFailed(f"cannot write {path}: {reason}") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
