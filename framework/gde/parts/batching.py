"""Collects concurrent requests into batches for one worker thread.

The worker may answer some before others. Then further ones join those that are left.

The thread keeps no process alive: a matrix product that takes minutes cannot be
stopped, but it can be left.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any, Generic, TypeVar
from weakref import finalize

JobT = TypeVar("JobT")
AnswerT = TypeVar("AnswerT")
Answers = Generator[Mapping[int, AnswerT], Sequence[JobT], None]
"""Gives the answers that it has, by the number of the job in the order in which it was
given, and is sent further jobs while some are left. Gives up soon after an event is set.
"""
Work = Callable[[Sequence[JobT], Event], Answers[AnswerT, JobT]]
"""Begins to answer jobs."""
Given = SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]
GRACE = 0.5
"""Seconds that closing waits for abandoned work: an interpreter that ends while a
thread is deep in a library may crash.
"""


class Batcher(Generic[JobT, AnswerT]):
    """Collects jobs while the worker is busy, then gives it up to `batch_size`.

    It serves one event loop at a time.
    """

    def __init__(self, work: Work[JobT, AnswerT], batch_size: int) -> None:
        self._work = work
        self._batch_size = batch_size
        self._waiting: deque[tuple[JobT, asyncio.Future[AnswerT]]] = deque()
        self._given: Given = SimpleQueue()
        self._halt = Event()
        """Set to give up the current batch."""
        self._closed = False
        self._thread = Thread(
            target=_serve, args=(self._given,), name="gde-batcher", daemon=True
        )
        self._thread.start()
        finalize(self, self._given.put, None)
        self._clerk: asyncio.Task[None] | None = None

    async def submit(self, job: JobT) -> AnswerT:
        """The answer to one job.

        Raises:
            RuntimeError: the batcher is closed.
        """
        if self._closed:
            raise RuntimeError("the batcher is closed")
        loop = asyncio.get_running_loop()
        if self._clerk is not None and self._clerk.get_loop() is not loop:
            self._waiting.clear()
            self._clerk = None
        future: asyncio.Future[AnswerT] = loop.create_future()
        self._waiting.append((job, future))
        if self._clerk is None or self._clerk.done():
            self._clerk = loop.create_task(self._work_off())
        return await future

    def close(self) -> None:
        """Take no more jobs, and give up the current one."""
        self._closed = True
        self._halt.set()
        self._given.put(None)
        self._thread.join(GRACE)

    async def _work_off(self) -> None:
        while self._waiting:
            await self._gather(self._batch_size)
            await self._answer()

    async def _gather(self, n: int) -> None:
        """Let other tasks run until a round of the event loop brings no further job, or
        `n` are waiting.
        """
        seen = -1
        while seen < len(self._waiting) < n:
            seen = len(self._waiting)
            await asyncio.sleep(0)

    def _take(self, going: dict[int, "asyncio.Future[AnswerT]"]) -> list[JobT]:
        """The jobs that join those that go on; their futures are added to these."""
        jobs = []
        while self._waiting and len(going) < self._batch_size:
            job, future = self._waiting.popleft()
            if not future.done():
                going[self._n_taken] = future
                self._n_taken += 1
                jobs.append(job)
        return jobs

    async def _answer(self) -> None:
        """Answer jobs until all that have joined are answered."""
        self._halt = halt = Event()
        self._n_taken = 0
        going: dict[int, asyncio.Future[AnswerT]] = {}
        jobs = self._take(going)
        try:
            answers = self._work(jobs, halt)
            step = partial(next, answers)
            while going:
                for number, answer in (await self._done_by(step)).items():
                    future = going.pop(number)
                    if not future.done():
                        future.set_result(answer)
                if going:
                    await self._gather(self._batch_size - len(going))
                    step = partial(answers.send, self._take(going))
        except asyncio.CancelledError:
            halt.set()
            raise
        except Exception as error:
            for future in going.values():
                if not future.done():
                    future.set_exception(error)

    async def _done_by(
        self, step: Callable[[], Mapping[int, AnswerT]]
    ) -> Mapping[int, AnswerT]:
        """What the worker gives next."""
        answered = Future[Mapping[int, AnswerT]]()
        self._given.put((step, answered))
        return await asyncio.wrap_future(answered)


def _serve(given: Given) -> None:
    """Do the tasks until None comes.

    The thread refers to no batcher, which it would keep in memory.
    """
    while (task := given.get()) is not None:
        work, answered = task
        if answered.set_running_or_notify_cancel():
            try:
                answered.set_result(work())
            except BaseException as error:
                answered.set_exception(error)
        del task, work, answered
