"""An event loop that signals end at a safe moment."""

import asyncio
import signal
from collections.abc import Coroutine
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, TypeVar

OutputT = TypeVar("OutputT")
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
"""Windows has no SIGHUP."""


def run(work: Coroutine[Any, Any, OutputT]) -> OutputT:
    """Run a coroutine as `asyncio.run`; a signal that interrupts cancels it.

    An exception between two bytecodes of the loop itself would lose a wakeup, and the
    loop would wait for ever. A second signal raises at once, for work that never waits.

    Raises:
        KeyboardInterrupt: a signal came.
    """
    # Only the main thread receives signals.
    if current_thread() is not main_thread():
        return asyncio.run(work)

    interrupt = _Interrupt()
    handlers = {}
    for name in SIGNALS:
        number = getattr(signal, name, None)
        # Others would not interrupt: they are ignored, or end the process.
        if number and signal.getsignal(number) is signal.default_int_handler:
            handlers[number] = signal.signal(number, interrupt)
    try:
        output = asyncio.run(interrupt.guarded(work))
    except BaseException:
        if interrupt.count:
            raise KeyboardInterrupt from None
        raise
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if interrupt.count:
        raise KeyboardInterrupt
    return output


class _Interrupt:
    """Handles signals while a loop runs."""

    def __init__(self) -> None:
        self.count = 0
        self._task: asyncio.Task[Any] | None = None

    def __call__(self, _: int, __: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            raise KeyboardInterrupt
        if self._task is not None:
            self._task.cancel()
            # The loop may be asleep.
            self._task.get_loop().call_soon_threadsafe(lambda: None)

    async def guarded(self, work: Coroutine[Any, Any, OutputT]) -> OutputT:
        """Do the work in a task that a signal cancels."""
        self._task = asyncio.current_task()
        try:
            # A signal may have come before there was a task.
            if self.count:
                work.close()
                raise asyncio.CancelledError
            return await work
        finally:
            self._task = None
