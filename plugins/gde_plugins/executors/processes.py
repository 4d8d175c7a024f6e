"""The executor `processes`.

Each worker has a loky pool of its own, because a worker that dies breaks its pool: loky
then kills all of its workers.
"""

import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from contextlib import contextmanager
from functools import partial
from multiprocessing import Pipe, active_children
from threading import Lock
from typing import Any, TypeVar

from loky.backend import get_context
from loky.process_executor import (
    BrokenProcessPool,
    ProcessPoolExecutor,
    ShutdownExecutorError,
)

from gde.errors import RunFailed, WorkerDied
from gde.parts.executor import after_death
from gde_plugins.executors.config import ProcessesConfig
from gde_plugins.executors.work import STOPPED, THREADS, opened, pickled, threads
from gde_plugins.executors.worker import GRACE, begin, work

Item = TypeVar("Item")
Output = TypeVar("Output")


class Processes:
    """Distribute items over fresh processes.

    Implements `gde.parts.executor.KeepsWorkers`.

    Workers do not load the running script, which therefore needs no main guard.
    """

    def __init__(self, config: ProcessesConfig) -> None:
        self.workers = config.workers
        self._lock = Lock()
        self._crews: list[_Crew] = []
        self._keeps = False
        self._kept: _Crew | None = None
        """Waits for the next `map`."""
        self._stopped = False

    def check(self, work: object) -> None:
        """Refuse work that cannot be sent, before anything is written.

        Raises:
            GdeError: the work cannot be pickled, or holds something of the running
                script.
        """
        pickled(work, "processes")

    def map(
        self, job: Callable[[Item], Output], items: Sequence[Item]
    ) -> Iterator[Output]:
        """Yield the job's outputs as they come; a dead worker is replaced.

        Raises:
            GdeError: job or items cannot be sent to a worker.
            WorkerDied: a worker has died and the job cannot go on. The other workers
                are stopped.
        """
        if not items:
            return
        size = self.workers if self._keeps else min(self.workers, len(items))
        crew = self._crew(size)

        def do(item: Item) -> Output:
            while True:
                wanted = pickled((job, item), "processes")
                try:
                    packed = crew.do(wanted)
                except WorkerDied as died:
                    item = after_death(job, item, died)
                else:
                    output: Output = opened(packed)
                    return output

        waiting = ThreadPoolExecutor(self.workers, thread_name_prefix="gde-worker")
        done: list[Future[Output]] = []
        ending = ThreadPoolExecutor(1, thread_name_prefix="gde-ending")
        try:
            for item in items:
                done.append(waiting.submit(do, item))
            for each in as_completed(done):
                yield each.result()
        finally:
            if self._keeps and all(each.done() for each in done):
                self._kept = crew
            else:
                # A signal reaches the main thread alone: it ends one wait, not the
                # ending.
                ended = ending.submit(crew.end, done)
                try:
                    wait([ended])
                finally:
                    ended.result()
            waiting.shutdown()

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep the workers from one `map` to the next; one `map` at a time."""
        self._keeps = True
        try:
            yield
        finally:
            self._keeps = False
            # Another thread may wait for their work.
            for crew in self._crews:
                crew.dismiss()
            if self._kept is not None:
                self._kept.end()
                self._kept = None

    def stop(self) -> None:
        """End all workers, for good."""
        with self._lock:
            self._stopped = True
            for crew in self._crews:
                crew.dismiss()

    def _crew(self, size: int) -> "_Crew":
        with self._lock:
            if self._stopped:
                raise RunFailed(STOPPED)
            crew, self._kept = self._kept, None
            if crew is None:
                crew = _Crew(size)
                self._crews.append(crew)
            return crew


class _Crew:
    """The workers of one `map`, which share the cores."""

    def __init__(self, size: int) -> None:
        self._threads = threads(size, os.environ)
        self._lock = Lock()
        self._dismissed = False
        self._free: list[_Worker] = []
        self.workers: list[_Worker] = []

    def do(self, wanted: bytes) -> bytes:
        """Have a worker do pickled work and give the packed outcome.

        Raises:
            WorkerDied: it has died.
            RunFailed: the crew was dismissed.
        """
        worker = self._take()
        try:
            packed = worker.do(wanted)
        except (WorkerDied, ShutdownExecutorError):
            if self._dismissed:
                raise RunFailed(STOPPED) from None
            raise
        self._free.append(worker)
        return packed

    def dismiss(self) -> None:
        """Have every worker end, also in the midst of its work, and start no other."""
        with self._lock:
            self._dismissed = True
            for worker in self.workers:
                worker.dismiss()

    def end(self, done: Sequence[Future[Any]] = ()) -> None:
        """Dismiss the workers and wait until they have ended, and those who wait for
        their work.
        """
        self.dismiss()
        in_good_order = not wait(done, timeout=2 * GRACE).not_done
        # A dismissed worker takes a moment to end, so all of them are waited for at once.
        with ThreadPoolExecutor(len(self.workers) or 1) as closing:
            closing.map(partial(_Worker.close, kill=not in_good_order), self.workers)
        # Processes that have ended keep their semaphores until then.
        active_children()

    def _take(self) -> "_Worker":
        with self._lock:
            if self._dismissed:
                raise RunFailed(STOPPED)
            if self._free:
                return self._free.pop()
            worker = _Worker(self._threads)
            self.workers.append(worker)
            return worker


class _Worker:
    """This side of a worker process."""

    def __init__(self, threads: int) -> None:
        other_end, self._wanted = Pipe(duplex=False)
        self._pool = ProcessPoolExecutor(
            max_workers=1,
            context=get_context("loky"),
            initializer=begin,
            initargs=(other_end,),
            env={THREADS: str(threads)},
        )

    def do(self, wanted: bytes) -> bytes:
        """Do pickled work and give the packed outcome.

        Raises:
            WorkerDied: the process has ended instead.
            ShutdownExecutorError: it was killed by `close`.
        """
        try:
            packed: bytes = self._pool.submit(work, wanted).result()
        except BrokenProcessPool as error:
            raise WorkerDied(_death(str(error))) from None
        return packed

    def dismiss(self) -> None:
        """Tell the process that it is no longer wanted."""
        self._wanted.close()

    def close(self, kill: bool) -> None:
        """Wait until the process has ended."""
        self._pool.shutdown(kill_workers=kill)


def _death(message: str) -> str:
    """Say how a worker has ended, from loky's message, e.g. "... are {SIGKILL(-9)}"."""
    code = re.search(r"\((-?\d+)\)\}", message)
    if code is None:
        return "ended before its work was done"
    if (number := int(code[1])) >= 0:
        return f"ended with exit code {number} before its work was done"
    return f"was killed by {signal.Signals(-number).name} before its work was done, perhaps because memory ran out"
