"""One thread for what a probe computes, so that its numbers are the same however many the machine has.

Threads that share a sum add it up in another order than one thread does, and gradient descent carries the last digits
on until what is read from a probe is another.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """While the context lasts, NumPy, SciPy and torch compute in one thread, whatever they were told before.

    Contexts may be nested, and several threads may be inside at once, each computing in itself alone. What holds for
    the whole process, BLAS and MKL, is limited when the first comes and restored when the last has gone, so another
    thread is slower meanwhile. `torch.set_num_threads` must not be called by others as long as anybody is inside.
    """
    torch = sys.modules.get("torch")  # what is not loaded computes nothing
    tell: Callable[[int], None] = torch.set_num_threads if torch else _nobody
    before = torch.get_num_threads() if torch else 1
    with threadpool_limits(limits=1, user_api="openmp"):  # OpenMP's number belongs to this thread
        _PROCESS.enter(tell, before)
        try:
            yield
        finally:
            _PROCESS.leave()


class _Process:
    """What is set for all threads at once, as long as anybody is inside."""

    def __init__(self) -> None:
        self._lock, self._inside, self._restored = Lock(), 0, ExitStack()

    def enter(self, tell: Callable[[int], None], before: int) -> None:
        with self._lock:
            if not self._inside:
                self._restored.enter_context(threadpool_limits(limits=1, user_api="blas"))
                self._restored.callback(tell, before)
            self._inside += 1
            tell(1)  # also where another thread has done so: torch reads it when a thread first computes

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._restored.close()


def _nobody(_: int) -> None:
    pass


_PROCESS = _Process()
