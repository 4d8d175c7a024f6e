"""The end of a worker that takes part in a run of another process of this machine: it is lent work, one lease after
another, asks for what it needs to know, and tells what is to be written.

The two meet at a socket in a folder that nobody but their user can enter, named by the process that holds the run. So
what comes by it was said by a process of the same user, and can be pickled; nothing that lies in a run folder is.
"""

import os
import pickle
import re
import signal
import socket
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import gettempdir
from threading import Event, Lock, Thread
from typing import Any

from gde import __version__
from gde.errors import GdeError, RunFailed, RunFolderError
from gde.executors.workers import opened, outcome
from gde.store.folder import RunFolder
from gde.store.lock import HOLDER

BEAT = 1.0
"""Seconds between two signs of life."""
WRITER = re.compile(r"process (\d+) on (\S+) since ")
GONE = "the process that held the run has ended, or has taken this one for dead; go on with `gde resume`"
RESUME = "go on with `gde resume {0}`, which lends work if the run was begun with `--executor leases`, then join it"
SAME = f"gde {__version__}, Python {'.'.join(map(str, sys.version_info[:3]))}"
"""What those who work on one run must have alike."""


def meeting_place(pid: int) -> Path:
    """The socket of a process.

    Raises:
        GdeError: others can enter the folder.
    """
    folder = Path(gettempdir()) / f"gde-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise GdeError(f"{folder}: wanted a folder that nobody else can enter: remove it, or set TMPDIR")
    return folder / f"{pid}.sock"


def join(run: Path) -> int:
    """Take part in the run of a folder, until nothing is left. Gives how many leases were worked off.

    Raises:
        RunFolderError: no such run, it is finished, or no process of this machine has it and lends its work.
        GdeError: the work cannot be loaded here, or is of another version.
        RunFailed: the holder is gone.
    """
    try:
        written = WRITER.match((run / HOLDER).read_text())
    except (OSError, UnicodeDecodeError):
        written = None
    if written is None:
        raise RunFolderError(_unheld(RunFolder.open(run)))
    holder, host = int(written[1]), written[2]
    if host != socket.gethostname():
        raise RunFolderError(f"process {holder} on {host} has the run {run}: only processes of that machine can join")
    try:
        return work(meeting_place(holder))
    except ConnectionError as error:
        if not _lives(holder):
            raise RunFolderError(
                f"process {holder}, which had the run {run}, was killed: {RESUME.format(run)}"
            ) from error
        reason = f"{error}: its executor is another than leases, or all episodes are done"
        raise RunFolderError(f"process {holder} has the run {run} and lends no work; {reason}") from error


def _unheld(run: RunFolder) -> str:
    """Why nobody lends the work of a run that nobody has."""
    if run.is_finished:
        return f"the run {run.path} is finished: nothing is left to work on"
    return f"nobody has the run {run.path}: {RESUME.format(run.path)}"


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


def work(address: Path) -> int:
    """As `join`, for the address of a holder.

    Raises:
        ConnectionError: nobody is there.
    """
    with socket.socket(socket.AF_UNIX) as there:
        try:
            there.connect(str(address))
        except OSError as error:
            raise ConnectionError(f"it does not listen ({error.strerror})") from error
        line = _Line(Connection(there.detach()))
    line.say("here", (os.getpid(), SAME))
    done = 0
    with line.beating():
        while (lent := line.hear()) is not None:
            line.say("done", _worked(line, lent))
            done += 1
    return done


def _worked(line: "_Line", lent: bytes) -> bytes:
    try:
        found = pickle.loads(lent)
    except Exception as error:
        reason = f"the work cannot be loaded here ({error}): every worker needs the plugins and modules of the run"
        line.say("left", reason)
        raise GdeError(reason) from error
    if isinstance(found, GdeError):
        raise found
    job, item, asks = found
    try:
        return outcome(partial(job, item, line.ask) if asks else partial(job, item))
    except KeyboardInterrupt:
        if line.gone.is_set():
            raise RunFailed(GONE) from None
        line.say("left", "")
        raise


class _Line:
    """A connection to the holder, by which two threads speak and one hears."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, Lock()
        self.gone = Event()
        """Whether the holder is."""

    def say(self, kind: str, content: Any) -> None:
        """Send a message.

        Raises:
            RunFailed: the holder is gone.
        """
        try:
            with self._lock:
                self._connection.send((kind, content))
        except OSError:
            self.gone.set()
            raise RunFailed(GONE) from None

    def hear(self) -> bytes | None:
        """What is lent; None where there is nothing any more."""
        try:
            return self._connection.recv_bytes()
        except (EOFError, OSError):
            return None

    def ask(self, message: Any) -> Any:
        """The holder's answer.

        Raises:
            RunFailed: it is gone.
        """
        self.say("ask", pickle.dumps(message))
        answer = self.hear()
        if answer is None:
            self.gone.set()
            raise RunFailed(GONE)
        return opened(answer)

    @contextmanager
    def beating(self) -> Iterator[None]:
        """While the context lasts, the holder is told that this process lives, and its end interrupts the work."""
        over = Event()

        def beat() -> None:
            with suppress(RunFailed):
                while not over.wait(BEAT):
                    self.say("alive", None)
            if not over.is_set():
                os.kill(os.getpid(), signal.SIGINT)

        Thread(target=beat, name="gde-beat", daemon=True).start()
        try:
            yield
        finally:
            over.set()
            self._connection.close()
