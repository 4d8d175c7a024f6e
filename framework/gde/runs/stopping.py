"""Stop a run from another thread, for an interrupt or a cancelled task."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar

from gde.errors import RunFailed

OutputT = TypeVar("OutputT")


class Stop:
    """A request to end the work; pickling makes a new one."""

    def __init__(self) -> None:
        self.wished = False
        self._lock = Lock()
        self._waiting: list[Callable[[], object]] = []

    def __reduce__(self) -> tuple[type["Stop"], tuple[()]]:
        return Stop, ()

    def set(self) -> None:
        """Stop the work that is under way, and begin no other."""
        with self._lock:
            self.wished = True
            for call in self._waiting:
                call()

    def check(self) -> None:
        """Raise if the work is to end; called between two pieces of it.

        Raises:
            RunFailed: it is.
        """
        if self.wished:
            raise RunFailed(
                "the run was stopped; finished work is kept; resume with `gde resume`"
            )

    @contextmanager
    def calling(self, call: Callable[[], object]) -> Iterator[None]:
        """Have `set` call `call`, in its own thread, to end the work in this context.

        `call` returns at once.

        Raises:
            RunFailed: the work was stopped, whatever it then raised.
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
        """Run a coroutine in an event loop of its own, in which `set` cancels it.

        Raises:
            RunFailed: it was cancelled.
        """

        tasks: list[asyncio.Task[OutputT]] = []

        async def cancellable() -> OutputT:
            loop = asyncio.get_running_loop()
            task = loop.create_task(work)
            tasks.append(task)
            try:
                with self.calling(lambda: loop.call_soon_threadsafe(task.cancel)):
                    return await task
            except asyncio.CancelledError:
                self.check()
                raise

        try:
            return asyncio.run(cancellable())
        finally:
            # An interruption ends the loop before anything awaits the task. asyncio
            # would log its exception wherever garbage is next collected.
            for task in tasks:
                if task.done() and not task.cancelled():
                    task.exception()
