"""One thread for what a probe computes, so that its numbers are the same however many the machine has.

Threads that share a sum add it up in another order than one thread does, and gradient descent carries the last digits
on until what is read from a probe is another.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController


@contextmanager
def one_thread() -> Iterator[None]:
    """While the context lasts, NumPy, SciPy and torch compute in one thread, whatever they were told before.

    Contexts may be nested, and several threads may be inside at once, each computing in itself alone. What holds for
    the whole process, BLAS and MKL, is limited when the first comes and restored when the last has gone, so another
    thread is slower meanwhile. `torch.set_num_threads` must not be called by others as long as anybody is inside.
    """
    torch = _loaded()
    visit = object()
    before = torch.get_num_threads() if torch else 1
    # OpenMP's number belongs to this thread. What restores it must not know of BLAS, which it would restore as well.
    with ThreadpoolController().select(user_api="openmp").limit(limits=1):
        try:
            _PROCESS.enter(visit, torch, before)
            yield
        finally:
            _PROCESS.leave(visit)


class _Process:
    """What is set for all threads at once, as long as anybody is inside."""

    def __init__(self) -> None:
        # The thread that holds the lock may take it again: it may be the one to free a context that was interrupted.
        self._lock = RLock()
        self._told = False
        self._restored = ExitStack()
        self._inside: set[object] = set()

    def enter(self, visit: object, torch: Any, before: int) -> None:
        with self._lock:
            self._inside.add(visit)
            if len(self._inside) == 1:
                self._restored.callback(_for_all, _for_all(_limited).restore_original_limits)
            if torch and not self._told:
                self._restored.callback(self._restore, torch, before)
                self._told = True
            if torch:  # also where another thread has told it: it reads the number when a thread first computes
                torch.set_num_threads(1)

    def _restore(self, torch: Any, threads: int) -> None:
        torch.set_num_threads(threads)
        self._told = False

    def leave(self, visit: object) -> None:
        """Also where it was interrupted on its way in."""
        with self._lock:
            self._inside.discard(visit)
            if not self._inside:
                self._restored.close()


def _limited() -> Any:
    """Limits BLAS, and knows what it was told before."""
    return ThreadpoolController().select(user_api="blas").limit(limits=1)


def _for_all(tell: Callable[[], Any]) -> Any:
    """What `tell` gives. Since 3.8 threadpoolctl lets OpenBLAS be told by one thread alone, the one that did it first;
    here whoever comes first tells it, and whoever is the last to go."""
    let_go = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", _nobody)
    let_go(force=True)
    told = tell()
    let_go(force=True)
    return told


def _nobody(*, force: bool) -> None:
    """Before 3.8."""


def _loaded() -> Any:
    """Torch; None before it is loaded, and while another thread is loading it: then nobody computes with it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "set_num_threads") else None


_PROCESS = _Process()
