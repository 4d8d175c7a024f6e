"""The lock of a run folder, which has one writer at a time."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from gde.errors import RunFolderError

LOCK = ".lock"
HOLDER = ".writer"
"""The file that says who holds the lock, for messages."""


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Lock the folder against other writers.

    They may be on any machine that sees its file system.

    Readers need no lock. The operating system releases it when the process dies,
    however it dies.

    Raises:
        RunFolderError: another process holds it, or it cannot be written to.
    """
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunFolderError(
            f"{folder} is being written by {_holder(folder)}: wait for it, or end it"
        ) from None
    except OSError as error:
        raise RunFolderError(
            f"{folder} cannot be written to: {error.strerror}"
        ) from error
    try:
        with suppress(OSError):
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
            who = f"process {os.getpid()} on {socket.gethostname()} since {now} UTC"
            # A new file, for a link in its place may lead out of the folder.
            (folder / HOLDER).unlink(missing_ok=True)
            with (folder / HOLDER).open("x") as file:
                file.write(who)
        yield
    finally:
        with suppress(OSError):
            (folder / HOLDER).unlink()
        lock.release()


def _holder(folder: Path) -> str:
    holder = ""
    with suppress(OSError, UnicodeDecodeError):
        holder = (folder / HOLDER).read_text()[:200]

    # The file is empty while its holder writes it.
    return holder or "another process"
