"""Where the calls of an environment are made, so that a slow one stops nobody.

An environment begins in a thread of its own. Once episodes have shown that its calls take less than changing threads
does, the next ones are made and called in the event loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any, TypeVar

from gde.parts.environment import Environment

OutputT = TypeVar("OutputT")
QUICK = 0.001
"""Seconds that a call may take on average to be made in the event loop, where it stops all others."""
ENOUGH = 4
"""Calls that are measured before that is decided."""
Job = tuple[Callable[..., Any], tuple[Any, ...], Future[Any]]


class OwnThread:
    """Runs one call after another. A call that hangs is left behind with its thread, which keeps no process alive."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        Thread(target=self._work, name="gde-environment", daemon=True).start()

    async def call(self, function: Callable[..., OutputT], *arguments: Any) -> OutputT:
        done: Future[OutputT] = Future()
        self._jobs.put((function, arguments, done))
        return await asyncio.wrap_future(done)

    def close(self) -> None:
        """End after what was asked for."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            function, arguments, done = job
            if not done.set_running_or_notify_cancel():
                continue
            try:
                done.set_result(function(*arguments))
            except BaseException as error:  # it belongs to whoever asked
                done.set_exception(error)


@dataclass
class Pace:
    """How long the calls of a kind of environment take."""

    seconds: float = 0.0
    calls: int = 0

    def add(self, seconds: float) -> None:
        """Note one call."""
        self.seconds += seconds
        self.calls += 1

    @property
    def quick(self) -> bool:
        return self.calls >= ENOUGH and self.seconds < QUICK * self.calls


@dataclass
class Host:
    """One environment and where its calls are made."""

    pace: Pace
    thread: OwnThread | None
    environment: Environment = field(init=False)

    async def make(self, make: Callable[[], Environment]) -> None:
        """Make the environment where it will be called."""
        self.environment = await self._run(make)

    async def call(self, function: Callable[..., OutputT], *arguments: Any) -> OutputT:
        """The output of function(environment, *arguments)."""
        started = perf_counter()
        output = await self._run(function, self.environment, *arguments)
        self.pace.add(perf_counter() - started)
        return output

    async def close(self) -> None:
        """Close the environment, whatever it says to that."""
        if hasattr(self, "environment"):
            with suppress(Exception):
                await self._run(self.environment.close)
        self.leave()

    def leave(self) -> None:
        """Let go of an environment that may be hanging."""
        if self.thread is not None:
            self.thread.close()

    async def _run(self, function: Callable[..., OutputT], *arguments: Any) -> OutputT:
        if self.thread is None:
            return function(*arguments)
        return await self.thread.call(function, *arguments)


class Hosts:
    """The environments of one stratum: made when they are needed, used by one episode at a time."""

    def __init__(self, make: Callable[[], Environment], always_thread: bool) -> None:
        """`always_thread` where calls have deadlines, which the event loop could not keep."""
        self._make, self._always_thread = make, always_thread
        self._pace = Pace()
        self._free: list[Host] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Host]:
        """An environment that is given back afterwards; one that failed is not used again."""
        host = await self._take()
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
        """Close all that are free."""
        while self._free:
            await self._free.pop().close()

    async def _take(self) -> Host:
        inline = self._pace.quick and not self._always_thread
        while self._free:
            host = self._free.pop()
            if (host.thread is None) is inline:
                return host
            await host.close()
        host = Host(self._pace, None if inline else OwnThread())
        await host.make(self._make)
        return host
