"""One model in memory at a time, of those that share a device.

A model with random weights is at least as large as the trained one, and a card that
holds one of them need not hold both. Only the one that computes is therefore held; the
other is made again when it is wanted.
"""

import gc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Generic, TypeVar

import torch

HeldT = TypeVar("HeldT")


class OneInMemory(Generic[HeldT]):
    """Holds what one of several makers made."""

    def __init__(self, weights: Callable[[HeldT], object]) -> None:
        """Take what gives the part of it that fills the memory."""
        self._weights = weights
        self._lock = Lock()
        self._maker: Callable[[], HeldT] | None = None
        self._held: HeldT | None = None

    @contextmanager
    def holding(self, maker: Callable[[], HeldT]) -> Iterator[HeldT]:
        """Give what the maker makes, for exclusive use.

        What another maker made is released first.
        """
        with self._lock:
            if self._held is None or self._maker is not maker:
                self._release()
                self._held = maker()
                self._maker = maker
            yield self._held

    def release(self, maker: Callable[[], HeldT]) -> None:
        """Release what the maker made, unless it is in use."""
        # Work that was abandoned may compute for minutes, and nobody waits for it.
        if self._lock.acquire(blocking=False):
            if self._maker is maker:
                self._release()
            self._lock.release()

    def _release(self) -> None:
        if self._held is None:
            return
        weights = weakref.ref(self._weights(self._held))
        self._held = None
        # Modules that refer to each other in circles are freed by the collector alone,
        # which goes through all that is in memory: a second in a large process.
        if weights() is not None:
            gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
