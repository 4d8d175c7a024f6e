"""Files that are there completely or not at all, and the lock of a run folder."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkstemp

from filelock import FileLock, Timeout

from gde.errors import RunFailed, RunFolderError

LOCK, HOLDER = ".lock", ".writer"


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file so that a reader, or a later process, sees the old one or the new one and nothing between.

    A link in its place is replaced, not followed: a folder from elsewhere may point anywhere.

    Raises:
        RunFailed: it cannot be written; the old one is as it was.
    """
    unfinished: Path | None = None
    try:
        path.parent.mkdir(exist_ok=True)
        handle, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")
        unfinished = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        unfinished.chmod(0o644)
        unfinished.replace(path)
    except OSError as error:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
        reason = f"{error.strerror}; make room or give access, then go on with `gde resume {path.parent}`"
        raise RunFailed(f"cannot write {path}: {reason}") from error


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the folder against other writers, on this machine and on others that see its file system. Readers need not
    ask. The operating system lets go of it when the process dies, however it dies.

    Raises:
        RunFolderError: another process holds it, or it cannot be written to.
    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunFolderError(f"{folder} is being written by {_holder(folder)}: wait for it, or end it") from None
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be written to: {error.strerror}") from error
    try:
        with suppress(OSError):
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
            (folder / HOLDER).write_text(f"process {os.getpid()} on {socket.gethostname()} since {now} UTC")
        yield
    finally:
        with suppress(OSError):
            (folder / HOLDER).unlink()
        lock.release()


def _holder(folder: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return (folder / HOLDER).read_text()[:200] or "another process"  # it may be at writing that
    return "another process"
