"""Single-threaded computation, for numbers that do not depend on the cores.

Threads that share a sum add it up in another order than one thread does. Gradient
descent amplifies the difference in the last digits until the probe's scores change.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import RLock
from typing import Any

import threadpoolctl
import torch
from threadpoolctl import ThreadpoolController

_LOCK = RLock()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit NumPy, SciPy and torch to one thread as long as the context lasts.

    Contexts may be nested, and several threads may be inside at once. The limits of
    BLAS and MKL hold for the whole process: the first context sets them and the last
    one restores them, so other threads are slower meanwhile. Others must not call
    `torch.set_num_threads` as long as a context lasts.
    """
    try:
        _LIMITS.enter()
        # OpenMP's limit belongs to this thread. The controller selects OpenMP alone: it
        # would restore BLAS as well.
        with _libraries("openmp").limit(limits=1):
            yield
    finally:
        # Last, because the number of torch is this thread's number of OpenMP.
        _LIMITS.leave()


class _Limits:
    """The limits of the whole process, and the number of contexts that need them."""

    def __init__(self) -> None:
        self._inside = 0
        self._blas: Any = None
        self._torch_threads = 1

    def enter(self) -> None:
        with _LOCK:
            self._inside += 1
            if self._blas is None:
                self._torch_threads = torch.get_num_threads()
                self._blas = _for_all(_limit_blas)
            # Torch reads its number when a thread first computes, so every thread sets
            # it anew.
            torch.set_num_threads(1)

    def leave(self) -> None:
        with _LOCK:
            self._inside -= 1
            if not self._inside:
                torch.set_num_threads(self._torch_threads)
                _for_all(self._blas.restore_original_limits)
                self._blas = None


def _limit_blas() -> Any:
    return _libraries("blas").limit(limits=1)


def _libraries(kind: str) -> ThreadpoolController:
    """Return the loaded libraries that compute with threads of a kind."""
    return _loaded(len(sys.modules)).select(user_api=kind)


@lru_cache(maxsize=1)
def _loaded(_n_modules: int) -> ThreadpoolController:
    # Looking for the libraries takes as long as a small fit; only a new module brings
    # a new one.
    return ThreadpoolController()


def _for_all(call: Callable[[], Any]) -> Any:
    """Call a function with the right to set OpenBLAS, and return its result.

    Since version 3.8 threadpoolctl lets only the thread that set OpenBLAS first set it
    again. Here the first context sets it and the last restores it, and these may be in
    different threads.
    """
    controller: Any = threadpoolctl.OpenBLASController
    has_owner = hasattr(controller, "clear_controlling_thread")
    if has_owner:
        controller.clear_controlling_thread(force=True)
    result = call()
    if has_owner:
        controller.clear_controlling_thread(force=True)
    return result


_LIMITS = _Limits()
