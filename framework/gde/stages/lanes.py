"""Work in several threads, each of which does its share in order; what comes of it is given in the order of all."""

import ctypes
import os
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Generic, TypeVar

WorkT = TypeVar("WorkT")
OutputT = TypeVar("OutputT")


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_lanes(do: Callable[[WorkT], OutputT], work: Sequence[WorkT], lanes: Sequence[int]) -> Generator[OutputT]:
    """What `do` makes of each work, in order. What is in one lane is done in order, by one thread; the lanes side by
    side, and a single one by the thread that asks.

    When the iterator is closed or interrupted, the threads are ended too, at the next line of Python that they come to.

    Args:
        do: what it raises is raised where its output would have been.
        work: all of it begins at once, so what it gives is held until it is asked for.
        lanes: the lane of each.
    """
    if len(set(lanes)) < 2:
        yield from map(do, work)
        return
    shares = {lane: [each for each, of in zip(work, lanes, strict=True) if of == lane] for lane in set(lanes)}
    threads = {lane: _Lane(do, share) for lane, share in shares.items()}
    try:
        for thread in threads.values():
            thread.start()
        for lane in lanes:
            yield threads[lane].next()
    finally:
        for thread in threads.values():
            thread.end()


class _Lane(Thread, Generic[WorkT, OutputT]):
    """One thread."""

    def __init__(self, do: Callable[[WorkT], OutputT], work: Sequence[WorkT]) -> None:
        super().__init__(name="gde-lane")
        self._do, self._work, self._over = do, work, False
        self._given: SimpleQueue[Future[OutputT]] = SimpleQueue()

    def run(self) -> None:
        for each in self._work:
            if self._over:
                break
            given: Future[OutputT] = Future()
            try:
                given.set_result(self._do(each))
            except BaseException as error:
                given.set_exception(error)
            self._given.put(given)

    def next(self) -> OutputT:
        """What the next of its works has given, once it is done."""
        return self._given.get().result()

    def end(self) -> None:
        """Have it end now. `SystemExit` is what ends a thread without a word, wherever it is by then."""
        self._over = True
        if self.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), ctypes.py_object(SystemExit))
        if self.ident is not None:
            self.join()
