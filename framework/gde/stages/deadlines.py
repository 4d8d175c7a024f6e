"""Deadlines of the plan, for awaited work and for calls that do not return."""

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
"""Seconds that the event loop may stand still at the expense of waiting tasks."""


class Overdue(GdeError, TimeoutError):
    """A deadline of the plan has passed."""


def limit(seconds: float | None, message: str) -> AbstractAsyncContextManager[Any]:
    """Set a deadline for the awaits in the context; None for none.

    `message` names the work.

    Raises:
        Overdue: it has passed.
    """
    return nullcontext() if seconds is None else _Limit(seconds, message)


class _Limit:
    running: ClassVar[set["_Limit"]] = set()
    """The deadlines of all tasks."""

    def __init__(self, seconds: float, message: str) -> None:
        self._timeout = asyncio.timeout(seconds)
        self._message = message
        self._task: asyncio.Task[Any] | None = None

    async def __aenter__(self) -> None:
        await self._timeout.__aenter__()
        self._task = asyncio.current_task()
        self.running.add(self)

    @classmethod
    def postpone_others(cls, seconds: float) -> None:
        """Extend every other task's deadline by the time the current one blocked."""
        current = asyncio.current_task()
        for each in cls.running:
            if each._task is None or current is None or each._task is current:
                continue
            when = each._timeout.when()
            same_loop = each._task.get_loop() is current.get_loop()
            if same_loop and when is not None and not each._timeout.expired():
                each._timeout.reschedule(when + seconds)

    async def __aexit__(self, *error: Any) -> None:
        self.running.discard(self)
        try:
            await self._timeout.__aexit__(*error)
        except TimeoutError:
            raise Overdue(self._message) from None


@contextmanager
def interrupting(seconds: float | None, message: str) -> Iterator[None]:
    """Set a deadline for calls that block, e.g. an endless loop; None for none.

    It is kept in the main thread only, on systems that have alarms. Calls deep in a
    library are interrupted when they return to Python.

    Raises:
        Overdue: it has passed.
    """
    if (
        seconds is None
        or current_thread() is not main_thread()
        or not hasattr(signal, "setitimer")
    ):
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
    """Awaits the work of a part, with a deadline for each blocking stretch."""

    def __init__(self, work: Awaitable[OutputT], seconds: float, message: str) -> None:
        self._work = work
        self._seconds = seconds
        self._message = message

    def __await__(self) -> Generator[Any, Any, OutputT]:
        stretches = self._work.__await__()
        thrown: BaseException | None = None
        while True:
            begun = monotonic()
            try:
                with interrupting(self._seconds, self._message):
                    waiting = (
                        next(stretches) if thrown is None else stretches.throw(thrown)
                    )
            except StopIteration as end:
                output: OutputT = end.value
                return output
            finally:
                stood = monotonic() - begun
                if stood > STANDSTILL:
                    _Limit.postpone_others(stood)

            # Exceptions of the event loop, e.g. a cancellation, belong into the work.
            try:
                thrown = None
                yield waiting
            except BaseException as error:
                thrown = error
