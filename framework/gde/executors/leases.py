"""Work in leases: to processes that are started here, and to any that join from another terminal of this machine.

A lease is over when its work is done, when its worker leaves or dies, or when nothing was heard of it for too long. Its
work is then lent anew; what the old worker says is not heard any more. What workers ask is answered in the thread that
iterates, so that there is one writer.
"""

import json
import os
import pickle
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from gde.errors import GdeError, RunFailed, WorkerDied
from gde.executors.executors import LeasesConfig, pickled
from gde.executors.joining import SAME, meeting_place
from gde.executors.nursery import ended
from gde.executors.workers import LOOK, STOPPED, THREADS, opened, outcome, threads
from gde.parts.executor import Ask, after_death

Item = TypeVar("Item")
Output = TypeVar("Output")
PROGRAM = (
    "import json, os, sys; from pathlib import Path; sys.path[:] = json.loads(sys.argv[1]); os.dup2(2, 1);"
    "from gde.errors import GdeError; from gde.executors.joining import work\n"
    "try: work(Path(sys.argv[2]))\n"
    "except GdeError: sys.exit(1)\n"  # what became of the run is told by whoever holds it
)


class Leases:
    """Implements `gde.parts.executor.WorksFarAway` and `Joinable`."""

    asked = True

    def __init__(self, config: LeasesConfig) -> None:
        self.workers = config.leases
        self._config = config
        self._desk: _Desk | None = None
        self._stopped = False

    @property
    def deserted(self) -> bool:
        """Whether none is started here and none has joined."""
        return self._config.workers == 0 and self._desk is not None and not self._desk.attended

    def check(self, work: object) -> None:
        """Before anything is written.

        Raises:
            GdeError: the work cannot be pickled, or is of the script that is running, or there are no such sockets.
        """
        if not hasattr(socket, "AF_UNIX"):
            raise GdeError("executor 'leases' needs Unix sockets, which this system has not: take processes")
        pickled(work, "leases")

    def stop(self) -> None:
        """End all work, for good."""
        self._stopped = True

    def map(self, job: Callable[..., Output], items: Sequence[Item], answer: Ask | None = None) -> Iterator[Output]:
        """The job's outputs as they come.

        Raises:
            WorkerDied: a worker has died, and the job cannot go on.
        """
        if not items:
            return
        with _listening() as (listener, address):
            desk = self._desk = _Desk(job, items, answer, listener, self._config.seconds)
            staff = _Staff(min(self._config.workers, len(items)), address)
            try:
                while desk.unfinished:
                    staff.fill(desk.waiting)
                    yield from desk.look(staff)
                    if self._stopped:
                        raise RunFailed(STOPPED)
            finally:
                self._desk = None
                desk.close()
                staff.end()


@contextmanager
def _listening() -> Iterator[tuple[socket.socket, Path]]:
    """A socket at the meeting place of this process."""
    address = meeting_place(os.getpid())
    address.unlink(missing_ok=True)  # of a process that had the same number and was killed
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            listener.bind(str(address))
        except OSError as error:
            raise GdeError(f"executor 'leases' cannot listen at {address}: {error}; set TMPDIR") from error
        listener.listen()
        try:
            yield listener, address
        finally:
            address.unlink(missing_ok=True)


class _Staff:
    """The workers that are started here."""

    def __init__(self, size: int, address: Path) -> None:
        self._size, self._address = size, address
        self._environment = {**os.environ, THREADS: str(threads(max(1, size), os.environ))}
        self._processes: list[subprocess.Popen[bytes]] = []

    def fill(self, wanted: object) -> None:
        """Start as many as are lacking, where somebody is wanted."""
        self._processes = [each for each in self._processes if each.poll() is None]
        command = [sys.executable, "-c", PROGRAM, json.dumps(sys.path), str(self._address)]
        while wanted and len(self._processes) < self._size:
            # In a session of its own: Ctrl-C reaches the run alone, which ends its workers.
            started = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=self._environment, start_new_session=True)
            self._processes.append(started)

    def has(self, pid: int) -> bool:
        """Whether a process was started here."""
        return any(each.pid == pid for each in self._processes)

    def end(self) -> None:
        """Have all end."""
        for each in self._processes:
            each.terminate()
        for each in self._processes:
            ended(each)


@dataclass
class _Worker:
    """A worker as it is seen from here."""

    heard: float
    """When something was heard of it last."""
    pid: int = 0
    """0 until it has said it."""
    lease: Any = None
    busy: bool = False


class _Desk:
    """Lends the work, answers, and takes it back."""

    def __init__(
        self, job: Any, items: Sequence[Any], answer: Ask | None, listener: socket.socket, seconds: float
    ) -> None:
        self.waiting = deque(items)
        self._job, self._answer, self._listener, self._seconds = job, answer, listener, seconds
        self._workers: dict[Connection, _Worker] = {}

    @property
    def unfinished(self) -> bool:
        """Whether work waits or is under way."""
        return bool(self.waiting) or any(each.busy for each in self._workers.values())

    @property
    def attended(self) -> bool:
        """Whether somebody has come to work."""
        return any(each.pid for each in [*self._workers.values()])

    def look(self, staff: _Staff) -> Iterator[Any]:
        """Hear everybody who has something to say, once, and lend what waits. Gives outputs."""
        ready = wait([self._listener, *self._workers], LOOK)
        now = monotonic()
        if self._listener in ready:
            there, _ = self._listener.accept()
            self._workers[Connection(there.detach())] = _Worker(heard=now)
        for line, worker in [*self._workers.items()]:
            if line in ready:
                worker.heard = now
                yield from self._hear(line, worker, staff)
            elif now - worker.heard > self._seconds:
                self._lose(line, f"was not heard of for {self._seconds:g} seconds, with its work undone")
        for line, worker in [*self._workers.items()]:
            if worker.pid and not worker.busy and self.waiting:
                self._lend(line, worker)

    def close(self) -> None:
        """End all leases."""
        for line in self._workers:
            line.close()

    def _hear(self, line: Connection, worker: _Worker, staff: _Staff) -> Iterator[Any]:
        try:
            kind, content = line.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            self._lose(line, "ended before its work was done")
            return
        match kind:
            case "here":
                worker.pid, same = content
                if same != SAME:
                    refusal = GdeError(f"the run is of {SAME}, this process of {same}: take the same for both")
                    self._send(line, pickle.dumps(refusal))
                    self._lose(line, "")
            case "ask":
                self._send(line, outcome(partial(self._answered, content)))
            case "done":
                worker.busy, worker.lease = False, None
                yield opened(content)
            case "left":
                if staff.has(worker.pid) and content:
                    raise GdeError(f"executor 'leases': {content}")
                self.waiting.appendleft(worker.lease)
                worker.busy = False
                self._lose(line, "")

    def _lend(self, line: Connection, worker: _Worker) -> None:
        worker.busy, worker.lease = True, self.waiting.popleft()
        self._send(line, pickled((self._job, worker.lease, self._answer is not None), "leases"))

    def _send(self, line: Connection, content: bytes) -> None:
        with suppress(OSError):  # it is found out when it is heard next
            line.send_bytes(content)

    def _lose(self, line: Connection, death: str) -> None:
        worker = self._workers.pop(line)
        line.close()
        if worker.busy:
            self.waiting.append(after_death(self._job, worker.lease, WorkerDied(death)))

    def _answered(self, message: bytes) -> Any:
        assert self._answer is not None
        return self._answer(pickle.loads(message))
