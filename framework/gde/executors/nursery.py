"""A process that loads what workers need, once, and forks them: from both ends.

To load the work takes longer than many a run, and a second worker that does it again costs what it saves where another
program has a core. A nursery loads and computes nothing, and it has one thread: a fork in the midst of others can
deadlock. Where what is loaded has started threads or processes, its workers are bare Pythons that load for themselves.

Having forked, a nursery waits for the ends of its workers and tells them. It ends with the last of them, or while it
loads as soon as nobody wants them. What is loaded is anybody's code: nothing that it does to the nursery or leaves
there (handlers, processes that go on) keeps a run from ending.
"""

import gc
import json
import os
import pickle
import select
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from itertools import chain
from math import inf
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from tempfile import TemporaryFile
from threading import Lock
from time import monotonic

import numpy as np

from gde.errors import INTERRUPTED
from gde.parts.executor import Loadable

THREADS_HERE = Path("/proc/self/task")
"""Where Linux lists the threads of a process; elsewhere there are no nurseries."""
GRACE = 1.0
"""Seconds that a process has for ending by itself; nothing is lost if it does not."""
LOOK = 0.2
"""Seconds between two looks of a nursery that loads at whether its workers are still wanted."""
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    f" from gde.executors.workers import PROGRAM, work; import {__name__} as n; n.tend(work, PROGRAM)"
)
Ends = tuple[int, int, int]
"""Descriptors: a worker's input, its output, and what the nursery tells of it: a line with its id, one with its exit
code."""


class Nursery:
    """This end."""

    def __init__(self, size: int, work: bytes, environment: Mapping[str, str]) -> None:
        """Start as many workers, with what a pickled job and item need."""
        with ExitStack() as if_it_fails:
            pipes = [_pipe(if_it_fails) for _ in range(3 * size)]
            works, answers, fates = pipes[:size], pipes[size : 2 * size], pipes[2 * size :]
            theirs = [*zip((out for out, _ in works), (to for _, to in answers), (to for _, to in fates), strict=True)]
            passed = [*chain(*theirs)]
            command = [sys.executable, "-c", PROGRAM, json.dumps(sys.path), json.dumps(theirs)]
            with TemporaryFile() as stdin:  # a pipe would have to be read before anything else is done
                stdin.write(work)
                stdin.seek(0)
                self._process = Popen(command, stdin=stdin, env=environment, start_new_session=True, pass_fds=passed)
            if_it_fails.pop_all()
        for each in passed:
            os.close(each)
        ours = zip((to for _, to in works), (out for out, _ in answers), (out for out, _ in fates), strict=True)
        self.workers = [Forked(ends, self._process) for ends in ours]

    def dismiss(self) -> None:
        """Its workers are no longer wanted: end it if it has not forked them."""
        if not any(worker.begun for worker in self.workers):
            self._process.kill()

    def wait(self) -> None:
        """Until it has ended, once its workers have."""
        ended(self._process)


def _pipe(if_it_fails: ExitStack) -> tuple[int, int]:
    """Its ends, of which the first is read from."""
    ends = os.pipe()
    for end in ends:
        if_it_fails.callback(os.close, end)
    return ends


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

    @property
    def begun(self) -> bool:
        """Whether something was told of it."""
        known = self._pid is not None or self._code is not None
        return known or _polled(self._fate.fileno(), 0, select.POLLIN)

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
        """End it, and the nursery, which may not have forked it yet, or not tell of its end. Others go on."""
        if self._pid is not None and self._code is None:
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._nursery.kill()


def ended(process: "Popen[bytes] | Forked") -> int:
    """The exit code of a process that is no longer wanted; of one that takes too long that of killing it."""
    try:
        return process.wait(2 * GRACE)
    except TimeoutExpired:
        process.kill()
        return process.wait()


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
    _load(ends)
    alone = len([*THREADS_HERE.iterdir()]) == 1 and _childless()
    handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # ends that are ignored have no exit codes
    gc.freeze()
    fates = {}
    for own in ends:
        if not (pid := os.fork()):
            signal.signal(signal.SIGCHLD, handler or signal.SIG_DFL)
            _take(own, ends)
            if not alone:
                os.execv(sys.executable, [sys.executable, "-c", bare, sys.argv[1]])
            work()
            return
        fates[pid] = own[2]
        _tell(own[2], pid)
    for descriptor in chain(*(each[:2] for each in ends)):
        os.close(descriptor)
    _watch(fates)


def _load(ends: list[Ends]) -> None:
    """Take the work and import what it needs, for as long as somebody holds the other end of what a worker reads."""
    kept = [*chain(*ends)]
    for descriptor in kept:  # neither programs nor forks that the loaded code starts may keep a pipe open
        os.set_inheritable(descriptor, False)
    os.register_at_fork(after_in_child=lambda: [*map(os.close, kept)])

    def look(*_: object) -> None:
        if _polled(ends[0][0], 0):
            os._exit(INTERRUPTED)

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    with suppress(BaseException):  # whatever it is, the worker meets it again and tells it
        job, item = pickle.loads(pickle.load(sys.stdin.buffer))
        if isinstance(job, Loadable):
            job.load(item)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if signal.getsignal(signal.SIGALRM) is look:
        signal.signal(signal.SIGALRM, before)
    kept.clear()


def _childless() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return True
    return False


def _watch(fates: dict[int, int]) -> None:
    """Tell the ends of workers as they come, by their ids."""
    while fates:
        pid, status = os.wait()
        if pid in fates:
            _tell(fates.pop(pid), os.waitstatus_to_exitcode(status))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, GRACE)  # what was loaded may do something at the end, but not for ever


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
