"""A run that is stopped from another thread: by a notebook that is interrupted, or a task that is cancelled."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from gde.errors import RunFailed

OutputT = TypeVar("OutputT")


class Stop:
    """Somebody's wish that the work ends. Like a lock, it means nothing in another process: there it is a new one."""

    def __init__(self) -> None:
        self.wished = False
        self._lock = Lock()
        self._waiting: list[Callable[[], object]] = []

    def __reduce__(self) -> tuple[type["Stop"], tuple[()]]:
        return Stop, ()

    def set(self) -> None:
        """Wish it, and call what waits for the wish."""
        with self._lock:
            self.wished = True
            for call in self._waiting:
                call()

    def check(self) -> None:
        """Between two pieces of work.

        Raises:
            RunFailed: it was wished.
        """
        if self.wished:
            raise RunFailed("the run was stopped; what was finished is kept, go on with `gde resume`")

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """While the context lasts, `call` is what ends the work; it is called in the thread of whoever wishes it, and
        returns at once.

        Raises:
            RunFailed: it was wished, whatever the work then raised.
        """
        with self._lock:
            self._waiting.append(call)
        try:
            self.check()
            yield
        except Exception:
            self.check()
            raise
        finally:
            with self._lock:
                self._waiting.remove(call)

    def run(self, work: Coroutine[Any, Any, OutputT]) -> OutputT:
        """What the coroutine gives, in an event loop of its own, in which it is cancelled when that is wished.

        Raises:
            RunFailed: it was.
        """

        async def cancellable() -> OutputT:
            loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
            try:
                with self.calling(lambda: loop.call_soon_threadsafe(task.cancel)):
                    return await task
            except asyncio.CancelledError:
                self.check()
                raise

        return asyncio.run(cancellable())
