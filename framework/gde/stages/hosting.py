"""Environments of a run and the threads in which they are called."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar, TypeVarTuple

from gde.errors import FAULTS
from gde.parts.environment import Environment

OutputT = TypeVar("OutputT")
Ts = TypeVarTuple("Ts")
Job = tuple[Callable[..., Any], tuple[Any, ...], Future[Any]]


class OwnThread:
    """Runs one call after another in its own thread.

    A call that hangs is left behind with its thread, which keeps no process alive.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        Thread(target=self._work, name="gde-environment", daemon=True).start()

    async def call(self, function: Callable[..., OutputT], *arguments: Any) -> OutputT:
        done: Future[OutputT] = Future()
        self._jobs.put((function, arguments, done))
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """End after the calls that were asked for."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, arguments, done = job
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(_called(function, *arguments))
            except BaseException as error:
                done.set_exception(error)


def _called(function: Callable[..., OutputT], *arguments: Any) -> OutputT:
    try:
        return function(*arguments)
    except (StopIteration, GeneratorExit) as error:
        # Raised in a coroutine, these would end it.
        raise RuntimeError(f"{type(error).__name__}: {error}") from error


@dataclass
class Host:
    """One environment and its thread: its own, or that of the event loop."""

    environment: Environment
    thread: OwnThread | None = None

    @classmethod
    async def begin(cls, make: Callable[[], Environment], threaded: bool) -> "Host":
        """Make an environment where it will be called."""
        if not threaded:
            return cls(_called(make))
        thread = OwnThread()
        try:
            return cls(await thread.call(make), thread)
        except BaseException:
            thread.close()
            raise

    async def call(
        self, function: Callable[[Any, *Ts], OutputT], *arguments: *Ts
    ) -> OutputT:
        """Give the output of function(environment, *arguments)."""
        if self.thread is None:
            return _called(function, self.environment, *arguments)
        return await self.thread.call(function, self.environment, *arguments)

    async def close(self) -> None:
        """Close the environment, whatever it raises."""
        with suppress(*FAULTS):
            await self.call(lambda environment: environment.close())
        self.leave()

    def leave(self) -> None:
        """Let go of an environment that may be hanging."""
        if self.thread is not None:
            self.thread.close()


class Hosts:
    """The environments of one condition, each lent to one episode at a time.

    They are made when needed.
    """

    def __init__(self, make: Callable[[], Environment], threaded: bool) -> None:
        """Take what makes an environment, and whether each needs a thread of its own.

        It does if its calls block, or if they have deadlines, which the event loop
        could not keep.
        """
        self._make = make
        self._threaded = threaded
        self._free: list[Host] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Host]:
        """Lend an environment. One that failed is not used again."""
        host = (
            self._free.pop()
            if self._free
            else await Host.begin(self._make, self._threaded)
        )
        try:
            yield host
        except (TimeoutError, asyncio.CancelledError):
            host.leave()
            raise
        except BaseException:
            await host.close()
            raise
        self._free.append(host)

    async def close(self) -> None:
        """Close all environments that are not lent."""
        while self._free:
            await self._free.pop().close()
