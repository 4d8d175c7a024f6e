"""One thread for what a probe computes, so that its numbers are the same however many the machine has.

Threads that share a sum add it up in another order than one thread does, and gradient descent carries the last digits
on until what is read from a probe is another.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """While the context lasts, NumPy, SciPy and torch compute in one thread, whatever they were told before.

    Contexts may be nested, and several threads may be inside at once, each computing in itself alone. What holds for
    the whole process, BLAS and MKL, is limited when the first comes and restored when the last has gone, so another
    thread is slower meanwhile. `torch.set_num_threads` must not be called by others as long as anybody is inside.
    """
    torch = _loaded()
    before = torch.get_num_threads() if torch else 1
    with threadpool_limits(limits=1, user_api="openmp"):  # OpenMP's number belongs to this thread
        _PROCESS.enter(torch, before)
        try:
            yield
        finally:
            _PROCESS.leave()


class _Process:
    """What is set for all threads at once, as long as anybody is inside."""

    def __init__(self) -> None:
        self._lock, self._inside, self._told, self._restored = Lock(), 0, False, ExitStack()

    def enter(self, torch: Any, before: int) -> None:
        with self._lock:
            if not self._inside:
                self._restored.enter_context(threadpool_limits(limits=1, user_api="blas"))
            self._inside += 1
            if torch and not self._told:
                self._told = True
                self._restored.callback(self._restore, torch, before)
            if torch:  # also where another thread has told it: it reads the number when a thread first computes
                torch.set_num_threads(1)

    def _restore(self, torch: Any, threads: int) -> None:
        torch.set_num_threads(threads)
        self._told = False

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                self._restored.close()


def _loaded() -> Any:
    """Torch; None before it is loaded, and while another thread is loading it: then nobody computes with it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "set_num_threads") else None


_PROCESS = _Process()
