"""Files that are there completely or not at all, and the lock of a run folder."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from gde.errors import RunFolderError
from gde.files import replacing

LOCK, HOLDER = ".lock", ".writer"


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file of a run folder so that a reader sees the old one or the new one and nothing between.

    Raises:
        RunFailed: it cannot be written; the old one is as it was.
    """
    remedy = f"make room or give access, then go on with `gde resume {path.parent}`"
    with replacing(path, remedy) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


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
