"""A process that loads what workers need, once, and forks them: from both ends.

To load the work takes longer than many a run, and a second worker that does it again costs what it saves where another
program has a core. A nursery loads and computes nothing, and it has one thread: a fork in the midst of others can
deadlock. Where what is loaded has started some, its workers are bare Pythons that load for themselves.

Work comes to a nursery by standard input, as to a worker. Having forked, it waits for the ends of its workers and tells
them; it ends with the last of them, or while it loads as soon as they are no longer wanted.
"""

import gc
import json
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from math import inf
from pathlib import Path
from subprocess import PIPE, Popen, TimeoutExpired
from threading import Lock
from time import monotonic

import numpy as np

from gde.errors import INTERRUPTED
from gde.parts.executor import Loadable

THREADS_HERE = Path("/proc/self/task")
"""Where Linux lists the threads of a process; elsewhere there are no nurseries."""
LOOK = 0.2
"""Seconds between two looks of a nursery that loads at whether its workers are still wanted."""
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    f" from gde.shipped.workers import PROGRAM, work; import {__name__} as n; n.tend(work, PROGRAM)"
)
Ends = tuple[int, int, int]
"""Descriptors: a worker's input, its output, and what the nursery tells of it: a line with its id, one with its exit
code."""


class Nursery:
    """This end."""

    def __init__(self, size: int, work: bytes, environment: Mapping[str, str]) -> None:
        """Start as many workers, with what a pickled job and item need."""
        pipes = [(os.pipe(), os.pipe(), os.pipe()) for _ in range(size)]
        theirs: list[Ends] = [(work[0], answers[1], fate[1]) for work, answers, fate in pipes]
        command = [sys.executable, "-c", PROGRAM, json.dumps(sys.path), json.dumps(theirs)]
        passed = [*chain(*theirs)]
        self._process = Popen(command, stdin=PIPE, env=environment, start_new_session=True, pass_fds=passed)
        for each in passed:
            os.close(each)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stdin:
            stdin.write(work)
        self.workers = [Forked((work[1], answers[0], fate[0]), self._process) for work, answers, fate in pipes]

    def wait(self) -> None:
        """Until it has ended, which it does with its last worker."""
        self._process.wait()


class Forked:
    """This end of a worker, with the interface of `subprocess.Popen`."""

    def __init__(self, ends: Ends, nursery: "Popen[bytes]") -> None:
        """Take this end's descriptors and the process that it is forked from."""
        work, answers, fate = ends
        self.stdin, self.stdout = os.fdopen(work, "wb"), os.fdopen(answers, "rb")
        self._fate, self._nursery = os.fdopen(fate, "rb", buffering=0), nursery
        self._lock = Lock()
        self._pid: int | None = None
        self._code: int | None = None

    def wait(self, timeout: float = inf) -> int:
        """The exit code; that of the nursery where it has ended before.

        Raises:
            TimeoutExpired: the process goes on.
        """
        until = monotonic() + timeout
        with self._lock:
            while self._code is None:
                if not _polled(self._fate.fileno(), until - monotonic(), select.POLLIN):
                    raise TimeoutExpired("worker", timeout)
                line = self._fate.readline()
                if line and self._pid is None:
                    self._pid = int(line)
                else:
                    self._code = int(line) if line else self._nursery.wait()
            self._fate.close()
            return self._code

    def kill(self) -> None:
        """End it; if it is not forked yet, the nursery."""
        if self._pid is None:
            self._nursery.kill()
        elif self._code is None:
            os.kill(self._pid, signal.SIGKILL)


def _polled(descriptor: int, seconds: float, what: int = 0) -> bool:
    """Whether so much is to be had within a time: without `what`, that nobody writes there any more."""
    poll = select.poll()
    poll.register(descriptor, what)
    return bool(poll.poll(None if seconds == inf else max(0.0, 1000 * seconds)))


def tend(work: Callable[[], None], bare: str) -> None:
    """The other end: load, fork workers that do their `work`, and tell how they end; `bare` is the program of one that
    loads for itself."""
    ends: list[Ends] = json.loads(sys.argv[2])
    os.dup2(2, 1)
    with suppress(BaseException):  # whatever it is, the worker meets it again and tells it
        _load(wanted=ends[0][0])
    alone = len([*THREADS_HERE.iterdir()]) == 1
    gc.freeze()
    fates = {}
    for own in ends:
        if not (pid := os.fork()):
            _take(own, ends)
            if not alone:
                os.execv(sys.executable, [sys.executable, "-c", bare, sys.argv[1]])
            work()
            return
        fates[pid] = own[2]
        _tell(own[2], pid)
    for descriptor in chain(*(each[:2] for each in ends)):
        os.close(descriptor)
    while fates:
        pid, status = os.wait()
        if pid in fates:
            _tell(fates.pop(pid), os.waitstatus_to_exitcode(status))


def _load(wanted: int) -> None:
    """Take the work and import what it needs, for as long as somebody writes to `wanted`."""

    def look(*_: object) -> None:
        if _polled(wanted, 0):
            os._exit(INTERRUPTED)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    try:
        job, item = pickle.loads(pickle.load(sys.stdin.buffer))
        if isinstance(job, Loadable):
            job.load(item)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _take(own: Ends, every: list[Ends]) -> None:
    """Become the worker with these ends, and no other."""
    os.dup2(own[0], 0)
    os.dup2(own[1], 1)
    for descriptor in chain(*every):
        os.close(descriptor)
    np.random.seed()  # else all workers would throw the same dice, where a part uses the global ones


def _tell(fate: int, number: int) -> None:
    with suppress(OSError):  # nobody listens any more
        os.write(fate, b"%d\n" % number)
