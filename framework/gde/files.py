"""Files that are written completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from gde.errors import RunFailed

PRIVATE = 0o077


@contextmanager
def replacing(path: Path, then: str = "run the command again") -> Iterator[Path]:
    """A file to write to, which replaces `path` at the end.

    After a failure it is deleted.

    A reader, or a later process, sees the old file or the new one and nothing between.
    A link in its place is replaced, not followed: a folder from elsewhere may point
    anywhere.

    Args:
        path: of the file; folders that it needs are made.
        then: what to do after making room or giving access, for the message.

    Raises:
        RunFailed: it cannot be written; the old file is as it was.
    """
    unfinished: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
        unfinished = Path(name)
        yield unfinished
        unfinished.chmod(0o666 & ~umask())
        unfinished.replace(path)
    except OSError as error:
        reason = (
            f"{error.strerror or error}; free disk space or give access, then {then}"
        )
        raise RunFailed(f"cannot write {path}: {reason}") from error
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file of a run folder so that it is there completely or not at all.

    Raises:
        RunFailed: it cannot be written; the old file is as it was.
    """
    data = content.encode() if isinstance(content, str) else content
    with replacing(path, f"resume with `gde resume {path.parent}`") as unfinished:
        unfinished.write_bytes(data)


def umask() -> int:
    """The rights that new files of this process do not give."""
    # It can only be read by setting it. For a moment, new files of other threads are
    # private.
    mask = os.umask(PRIVATE)
    os.umask(mask)
    return mask
