"""Computing in one thread, so that a probe's numbers do not depend on the number of
cores.

Threads that share a sum add it up in another order than one thread does. Gradient
descent amplifies the difference in the last digits until the probe's scores change.
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
    """Limit NumPy, SciPy and torch to one thread as long as the context lasts.

    Contexts may be nested, and several threads may be inside at once. The limits of
    BLAS and MKL hold for the whole process: the first context sets them and the last
    one restores them, so other threads are slower meanwhile. Others must not call
    `torch.set_num_threads` as long as a context lasts.
    """
    torch = _loaded()
    visit = object()  # stands for this context alone
    before = torch.get_num_threads() if torch else 1
    # OpenMP's limit belongs to this thread. The controller selects OpenMP alone: it
    # would restore BLAS as well.
    with ThreadpoolController().select(user_api="openmp").limit(limits=1):
        try:
            _PROCESS.enter(visit, torch, before)
            yield
        finally:
            _PROCESS.leave(visit)


class _Process:
    """The limits of the whole process, and the contexts that need them."""

    def __init__(self) -> None:
        # Revariant: garbage collection may close an interrupted context in the thread
        # that holds the lock.
        self._lock = RLock()
        self._told = False
        self._restored = ExitStack()
        self._inside: set[object] = set()

    def enter(self, visit: object, torch: Any, before: int) -> None:
        with self._lock:
            self._inside.add(visit)
            if len(self._inside) == 1:
                blas = _for_all(_limited)
                self._restored.callback(_for_all, blas.restore_original_limits)
            if torch and not self._told:
                self._restored.callback(self._restore, torch, before)
                self._told = True
            # Torch reads its number when a thread first computes, so every thread sets
            # it anew.
            if torch:
                torch.set_num_threads(1)

    def _restore(self, torch: Any, threads: int) -> None:
        torch.set_num_threads(threads)
        self._told = False

    def leave(self, visit: object) -> None:
        """Restore the limits with the last context, even one that was interrupted in
        `enter`.
        """
        with self._lock:
            self._inside.discard(visit)
            if not self._inside:
                self._restored.close()


def _limited() -> Any:
    """Limit BLAS; the result restores it."""
    return ThreadpoolController().select(user_api="blas").limit(limits=1)


def _for_all(tell: Callable[[], Any]) -> Any:
    """Call `tell` with the right to set OpenBLAS, and return its result.

    Since version 3.8 threadpoolctl lets only the thread that set OpenBLAS first set it
    again. Here the first context sets it and the last restores it, and these may be in
    different threads.
    """
    give_up = getattr(
        threadpoolctl.OpenBLASController, "clear_controlling_thread", _without_owner
    )
    give_up(force=True)
    result = tell()
    give_up(force=True)
    return result


def _without_owner(*, force: bool) -> None:
    """Do nothing: threadpoolctl before version 3.8 has no such right."""


def _loaded() -> Any:
    """The module torch; None before it is loaded, or while another thread is loading
    it.
    """
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "set_num_threads") else None


_PROCESS = _Process()
