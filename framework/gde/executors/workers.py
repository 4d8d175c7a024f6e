"""Worker processes, from both ends.

A worker is a bare Python, or the fork of one that has only loaded (`gde.executors.nursery`): none of this process,
which can deadlock once torch is loaded, and no second run of the caller's script, which therefore needs no main guard.
Work comes as pickles by standard input, and outcomes go as pickles by standard output; what the work prints goes to
standard error. Standard input stays open as long as the worker is wanted. Where it ends, because the worker is stopped or
whoever started it is gone, the worker ends too, in the midst of its work as if it were interrupted.
"""

import json
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from subprocess import PIPE, Popen
from threading import Event, Lock, Thread
from time import sleep
from typing import Any

from gde.errors import INTERRUPTED, GdeError, RunFailed, WorkerDied
from gde.executors.descriptors import moved
from gde.executors.nursery import GRACE, THREADS_HERE, Forked, Nursery, ended
from gde.stages.lanes import cores

STOPPED = "the workers were stopped; go on with `gde resume`"
LOOK = 0.2
"""Seconds between two looks at whether the work is to be stopped, where nothing else is heard."""
THREADS = "OMP_NUM_THREADS"
"""Read by whatever computes in threads (torch, OpenMP, OpenBLAS) when it is loaded."""
PROGRAM = f"import json, sys; sys.path[:] = json.loads(sys.argv[1]); import {__name__} as w; w.work()"


class Crew:
    """Workers that share the cores and are ended together."""

    def __init__(self, size: int, ended: bool = False) -> None:
        """Take how many there are at once."""
        share = threads(size, os.environ)
        self._size, self._environment = size, {**os.environ, THREADS: str(share)}
        # Where there are cores to spare, all load at once, and what computes in threads may start them as it is loaded.
        self._share_loading = size > 1 and share == 1 and THREADS_HERE.is_dir()
        self._lock = Lock()
        self._nurseries: list[Nursery] = []
        self._all: list[Worker] = []
        self._free: list[Worker] = []
        self._ended = ended

    def do(self, work: bytes) -> Any:
        """What a worker makes of a pickled job and its item.

        Raises:
            WorkerDied: it has died.
            RunFailed: the crew was ended.
            Exception: what the job raises.
        """
        worker = self._take(work)
        try:
            done, value = worker.do(work)
        except WorkerDied:
            if self._ended:
                raise RunFailed(STOPPED) from None
            raise
        self._free.append(worker)
        if not done:
            raise value
        return value

    def end(self) -> None:
        """Have every worker end, and start no other."""
        with self._lock:
            self._ended = True
        for nursery in self._nurseries:
            nursery.dismiss()
        for worker in self._all:
            worker.dismiss()

    def wait(self) -> None:
        """Until all that were dismissed have ended."""
        for worker in self._all:
            worker.wait()
        for nursery in self._nurseries:
            nursery.wait()

    def _take(self, work: bytes) -> "Worker":
        with self._lock:
            if self._ended:
                raise RunFailed(STOPPED)
            if not self._free:
                started = [*self._started(work)]
                self._all += started
                self._free += started
            return self._free.pop()

    def _started(self, work: bytes) -> Iterator["Worker"]:
        """All workers at first, then one in the place of another that has died."""
        if self._share_loading and not self._all:
            self._nurseries.append(Nursery(self._size, work, self._environment))
            yield from map(Worker, self._nurseries[-1].workers)
        else:
            command = [sys.executable, "-c", PROGRAM, json.dumps(sys.path)]
            # In a session of its own, so that Ctrl-C reaches the run alone, which ends its workers in good order.
            yield Worker(Popen(command, stdin=PIPE, stdout=PIPE, env=self._environment, start_new_session=True))


class Worker:
    """This end of a worker process."""

    def __init__(self, process: "Popen[bytes] | Forked") -> None:
        self._process = process

    def do(self, work: bytes) -> tuple[bool, Any]:
        """Whether the work was done, and its output or what it raised.

        Raises:
            WorkerDied: it has.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(work)
            self._process.stdin.flush()
            outcome: tuple[bool, Any] = pickle.load(self._process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise WorkerDied(_death(self.wait())) from None
        return outcome

    def dismiss(self) -> None:
        """It is no longer wanted."""
        with suppress(OSError):
            self._process.stdin.close()  # type: ignore[union-attr]  # it is a pipe

    def wait(self) -> int:
        """The exit code, of a worker that takes too long that of killing it."""
        self.dismiss()
        try:
            return ended(self._process)
        finally:
            self._process.stdout.close()  # type: ignore[union-attr]


def _death(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code} before its work was done"
    return f"was killed by {signal.Signals(-code).name} before its work was done, perhaps for want of memory"


def threads(workers: int, environment: Mapping[str, str]) -> int:
    """How many threads each of so many workers computes in: its share of the cores, or fewer where the environment
    says so. All of them in each would make them wait for one another."""
    share, said = max(1, cores() // workers), environment.get(THREADS, "")
    return min(share, int(said)) if said.isdecimal() and int(said) else share


def work() -> None:
    """The other end: do what comes by standard input until it ends."""
    waiting: SimpleQueue[bytes | None] = SimpleQueue()
    busy = Event()
    with suppress(BrokenPipeError), os.fdopen(moved(1, 2), "wb") as answers:
        # A process that a part forks may outlive this one; it must not keep the death of this one from being noticed.
        os.register_at_fork(after_in_child=partial(_forget, answers.fileno()))
        try:
            Thread(target=_listen, args=(waiting, busy), name="gde-work", daemon=True).start()
            while (wanted := waiting.get()) is not None:
                packed = outcome(partial(_done, wanted))
                busy.clear()  # before the answer, which the next work follows
                answers.write(packed)
                answers.flush()
        except KeyboardInterrupt:
            sys.stdout.flush()
            os._exit(INTERRUPTED)  # without waiting for what other threads are in the midst of
        finally:
            busy.clear()


def _forget(descriptor: int) -> None:
    with suppress(OSError):
        os.close(descriptor)


def _listen(waiting: "SimpleQueue[bytes | None]", busy: Event) -> None:
    """Queue up the work; once no more can come, see to it that the process ends."""
    nowhere = os.open(os.devnull, os.O_RDONLY)
    with os.fdopen(moved(0, nowhere), "rb") as work, suppress(EOFError):
        while True:
            wanted = pickle.load(work)
            busy.set()
            waiting.put(wanted)
    waiting.put(None)
    if busy.is_set():
        os.kill(os.getpid(), signal.SIGINT)
    sleep(GRACE)
    os._exit(INTERRUPTED)


def outcome(work: Callable[[], Any]) -> bytes:
    """Whether the work was done, and its output or what it raised: a pickled pair."""
    try:
        return pickle.dumps((True, work()))
    except Exception as error:
        return _packed(error)


def opened(packed: bytes) -> Any:
    """The output that `outcome` has packed.

    Raises:
        Exception: what the work raised.
    """
    done, value = pickle.loads(packed)
    if not done:
        raise value
    return value


def _done(wanted: bytes) -> Any:
    try:
        job, item = pickle.loads(wanted)
    except Exception as error:
        advice = "what a plan holds must be found by its name in modules that can be imported"
        raise GdeError(f"executor 'processes': a worker cannot load its work ({error}): {advice}") from error
    return job(item)


def _packed(error: Exception) -> bytes:
    """The error as itself where it can travel, else its message."""
    if not isinstance(error, GdeError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        packed = pickle.dumps((False, error))
        pickle.loads(packed)
    except Exception:
        told = GdeError(str(error)) if isinstance(error, GdeError) else RuntimeError(f"{type(error).__name__}: {error}")
        packed = pickle.dumps((False, told))
    return packed
