"""Files that are there completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from gde.errors import RunFailed


@contextmanager
def replacing(path: Path, remedy: str = "make room or give access") -> Iterator[Path]:
    """Give a new file to write to, which replaces `path` when the context ends well.

    A reader, or a later process, sees the old file or the new one and nothing between. A link in its place is
    replaced, not followed: a folder from elsewhere may point anywhere.

    Args:
        path: the file to be replaced; its folder is made where there is none.
        remedy: ends the error message.

    Raises:
        RunFailed: the file cannot be written; the old one is as it was.
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
        raise RunFailed(f"cannot write {path}: {error.strerror or error}; {remedy}") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
