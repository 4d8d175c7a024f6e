"""Concurrent requests meet here and are worked off together in one thread."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Generic, TypeVar

JobT = TypeVar("JobT")
AnswerT = TypeVar("AnswerT")
Work = Callable[[Sequence[JobT], Event], Sequence[AnswerT]]
"""Answers all jobs, in their order; gives up soon after the event is set."""


class Batcher(Generic[JobT, AnswerT]):
    """Collects jobs while the worker is busy, then hands it up to `batch_size` that wait. One event loop at a time."""

    def __init__(self, work: Work[JobT, AnswerT], batch_size: int) -> None:
        self._work = work
        self._batch_size = batch_size
        self._waiting: deque[tuple[JobT, asyncio.Future[AnswerT]]] = deque()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gde-batcher")
        self._clerk: asyncio.Task[None] | None = None

    async def submit(self, job: JobT) -> AnswerT:
        """The answer to one job."""
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
        """Take no more jobs."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    async def _work_off(self) -> None:
        while self._waiting:
            await self._gather()
            taken = [self._waiting.popleft() for _ in range(min(self._batch_size, len(self._waiting)))]
            batch = [(job, future) for job, future in taken if not future.done()]
            if batch:
                await self._answer([job for job, _ in batch], [future for _, future in batch])

    async def _gather(self) -> None:
        """Let the other tasks run for as long as each round of the event loop brings another job."""
        seen = 0
        while seen < len(self._waiting) < self._batch_size:
            seen = len(self._waiting)
            await asyncio.sleep(0)

    async def _answer(self, jobs: list[JobT], futures: list[asyncio.Future[AnswerT]]) -> None:
        halt = Event()
        try:
            answers = await asyncio.get_running_loop().run_in_executor(self._worker, self._work, jobs, halt)
        except asyncio.CancelledError:
            halt.set()
            raise
        except Exception as error:  # whatever it is, it belongs to those who wait
            for future in futures:
                if not future.done():
                    future.set_exception(error)
        else:
            for future, answer in zip(futures, answers, strict=True):
                if not future.done():
                    future.set_result(answer)
