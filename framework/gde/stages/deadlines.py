"""Deadlines of the plan, for what is awaited and for what does not come back."""

import asyncio
import signal
from collections.abc import Awaitable, Generator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from threading import current_thread, main_thread
from time import monotonic
from types import FrameType
from typing import Any, ClassVar, Generic, TypeVar

from gde.errors import GdeError

OutputT = TypeVar("OutputT")
AGAIN = 1.0
"""Seconds after which work that has swallowed its interruption is interrupted again."""

STANDSTILL = 0.01
"""Seconds without an event loop that are not held against those who waited."""


class Overdue(GdeError, TimeoutError):
    """A deadline of the plan has passed."""


def limit(seconds: float | None, message: str) -> AbstractAsyncContextManager[Any]:
    """A deadline for what is awaited in the context, which says what it was for; None for no limit."""
    return nullcontext() if seconds is None else _Limit(seconds, message)


class _Limit:
    running: ClassVar[set["_Limit"]] = set()
    """Those of all tasks."""

    def __init__(self, seconds: float, message: str) -> None:
        self._timeout, self._message = asyncio.timeout(seconds), message
        self._task: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._task = asyncio.current_task()
        self.running.add(self)

    @classmethod
    def postpone_others(cls, seconds: float) -> None:
        """Give every other task the time in which the current one has kept it waiting."""
        mine = asyncio.current_task()
        for each in cls.running:
            when = each._timeout.when()
            same_loop = each._task is not None and mine is not None and each._task.get_loop() is mine.get_loop()
            if same_loop and each._task is not mine and when is not None and not each._timeout.expired():
                each._timeout.reschedule(when + seconds)

    async def __aexit__(self, *error: Any) -> None:
        self.running.discard(self)
        try:
            await self._timeout.__aexit__(*error)
        except TimeoutError:
            raise Overdue(self._message) from None


@contextmanager
def interrupting(seconds: float | None, message: str) -> Iterator[None]:
    """A deadline for what is called in the context and does not give way, such as an endless loop or a socket that
    nobody writes to. It is kept in the main thread of a process, on systems that have alarms; what is deep in a library
    is interrupted when it returns.

    Raises:
        Overdue: it has passed.
    """
    if seconds is None or current_thread() is not main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def interrupt(_: int, __: FrameType | None) -> None:
        raise Overdue(message)

    handler = signal.signal(signal.SIGALRM, interrupt)
    others = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *others)


class Interruptible(Generic[OutputT]):
    """Awaits a part's work, with a deadline for each stretch of it in which the event loop stands still."""

    def __init__(self, work: Awaitable[OutputT], seconds: float, message: str) -> None:
        self._work, self._seconds, self._message = work, seconds, message

    def __await__(self) -> Generator[Any, Any, OutputT]:
        stretches = self._work.__await__()
        thrown: BaseException | None = None
        while True:
            begun = monotonic()
            try:
                with interrupting(self._seconds, self._message):
                    waiting = next(stretches) if thrown is None else stretches.throw(thrown)
            except StopIteration as end:
                output: OutputT = end.value
                return output
            finally:
                if (stood := monotonic() - begun) > STANDSTILL:
                    _Limit.postpone_others(stood)
            try:
                thrown = None
                yield waiting
            except BaseException as error:  # of whoever waits; it belongs into the work
                thrown = error
