"""Where the calls of an environment are made, so that a slow one stops nobody.

An environment begins in a thread of its own, and the first calls are made one at a time: threads that compute side by
side would all seem slow. Once calls have proved quick, which is to wait for nothing, environments are made and called
in the event loop, where a call costs a hundredth of a change of threads. Where they do not prove so in a moment, every
environment gets its thread.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from math import inf
from queue import SimpleQueue
from threading import Thread
from time import perf_counter, thread_time
from typing import Any, TypeVar

from gde.errors import FAULTS
from gde.parts.environment import Environment

if sys.platform == "linux":
    from resource import RUSAGE_THREAD, getrusage

OutputT = TypeVar("OutputT")
WAITING = 0.2
"""A call that computes for less than this share of its time waits, for something of its own or for the processor."""
LONG_WAIT, LONG_COMPUTATION = 0.001, 0.02
"""Seconds that a call may wait, or compute, on average to be made in the event loop, where it stops all others.
Computations are granted more: threads of one process take turns at them in any case."""
ENOUGH = 4
"""Calls that are measured before that is decided."""
SAMPLED = 17
"""Of calls that have proved quick one in so many is still measured: it costs as much as a step of a small world."""
PATIENCE = 0.5
"""Seconds for which episodes wait for that,"""
POLL = 0.002
"""looking again and again."""
Job = tuple[Callable[..., Any], tuple[Any, ...], Future[Any]]


def pauses() -> float:
    """How often this thread has given the processor up by itself. Where the system does not say: more and more often,
    so that whoever looks slow is taken to have waited."""
    return getrusage(RUSAGE_THREAD).ru_nvcsw if sys.platform == "linux" else perf_counter()


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
            except (StopIteration, GeneratorExit) as error:  # to coroutines they mean the end of one
                fault = RuntimeError(f"{type(error).__name__}: {error}")
                fault.__cause__ = error
                done.set_exception(fault)
            except BaseException as error:  # it belongs to whoever asked
                done.set_exception(error)


@dataclass
class Pace:
    """How long the calls of a kind of environment take."""

    waited: float = 0.0
    """Seconds of those calls that waited."""
    computed: float = 0.0
    """Seconds of the processor."""
    calls: int = 0
    """Those that were measured."""
    made: int = 0
    spent: float = 0.0
    """Seconds of the trial that is made at the beginning,"""
    seen: float = 0.0
    """and when they were counted last."""
    admitted: int = 0
    """Episodes that have begun."""
    busy: int = 0
    """Calls in threads at this moment."""

    def timed(self, function: Callable[..., OutputT], *arguments: Any) -> OutputT:
        """The output of a call, timed where it is made: without the time that it takes to get there."""
        self.made += 1
        if self.made % SAMPLED and self.quick:
            return function(*arguments)
        started, computed, paused = perf_counter(), thread_time(), pauses()
        output = function(*arguments)
        seconds, computed = perf_counter() - started, thread_time() - computed
        self.waited += seconds if computed < WAITING * seconds and pauses() - paused else 0.0
        self.computed += computed
        self.calls += 1
        return output

    @property
    def on_trial(self) -> bool:
        """Whether it is to be found out yet where calls belong."""
        return self.spent < PATIENCE and not self.quick and not self.waits

    async def admit(self) -> None:
        """Wait until an episode may begin: on trial not before those that have begun have told something."""
        while self.admitted > self.calls and self.on_trial:
            await self._look_again()
        self.admitted += 1

    @asynccontextmanager
    async def thread_taken(self) -> AsyncIterator[None]:
        """Wait until a call may be made in a thread: on trial one at a time."""
        while self.busy and self.on_trial:
            await self._look_again()
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1

    async def _look_again(self) -> None:
        await asyncio.sleep(POLL)
        now = perf_counter()
        # While something else keeps the event loop, nobody could be admitted, and nothing is found out.
        self.spent, self.seen = self.spent + min(now - self.seen, 2 * POLL), now

    @property
    def waits(self) -> bool:
        """Whether threads let calls wait side by side."""
        return self.calls >= ENOUGH and self.waited >= LONG_WAIT * self.calls

    @property
    def quick(self) -> bool:
        """Whether calls may be made in the event loop."""
        return self.calls >= ENOUGH and not self.waits and self.computed < LONG_COMPUTATION * self.calls


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
        if self.thread is None:
            return self.pace.timed(function, self.environment, *arguments)
        async with self.pace.thread_taken():
            return await self.thread.call(self.pace.timed, function, self.environment, *arguments)

    async def close(self) -> None:
        """Close the environment, whatever it says to that."""
        if hasattr(self, "environment"):
            with suppress(*FAULTS):
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
        self._pace = Pace(spent=inf if always_thread else 0.0)
        self._free: list[Host] = []

    @asynccontextmanager
    async def borrow(self) -> AsyncIterator[Host]:
        """An environment that is given back afterwards; one that failed is not used again."""
        await self._pace.admit()
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
