"""Requests meet in the batcher."""

import asyncio
import gc
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Sequence

import pytest

from gde.errors import GdeError
from gde.parts.batching import Answers, Batcher


class Squares:
    """A worker that remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.threads: set[int] = set()

    def __call__(self, jobs: Sequence[int], halt: threading.Event) -> Answers[int, int]:
        self.batches.append(list(jobs))
        self.threads.add(threading.get_ident())
        if -1 in jobs:
            raise GdeError("no negative numbers")
        yield {i: job * job for i, job in enumerate(jobs)}


async def submit_all(
    batcher: Batcher[int, int], jobs: Sequence[int]
) -> list[int | BaseException]:
    return await asyncio.gather(
        *(batcher.submit(job) for job in jobs), return_exceptions=True
    )


def test_jobs_that_wait_together_are_worked_off_together() -> None:
    work = Squares()
    batcher = Batcher(work, 4)
    assert asyncio.run(submit_all(batcher, range(10))) == [
        job * job for job in range(10)
    ]
    assert work.batches == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(work.threads) == 1
    assert threading.get_ident() not in work.threads
    batcher.close()


def test_a_failure_reaches_all_who_were_in_the_batch_and_nobody_else() -> None:
    batcher = Batcher(Squares(), 2)
    answers = asyncio.run(submit_all(batcher, [1, -1, 2, 3]))
    assert [type(answer) for answer in answers] == [GdeError, GdeError, int, int]
    batcher.close()


def test_work_that_cannot_begin_fails_and_leaves_nobody_waiting() -> None:
    def refuse(jobs: Sequence[int], halt: threading.Event) -> Answers[int, int]:
        raise GdeError("no model")

    batcher = Batcher(refuse, 8)
    waiting = asyncio.wait_for(submit_all(batcher, [1, 2]), 10)
    answers = asyncio.run(waiting)
    assert [type(answer) for answer in answers] == [GdeError, GdeError]
    batcher.close()


def test_a_batcher_outlives_an_event_loop() -> None:
    batcher = Batcher(Squares(), 8)
    assert [asyncio.run(batcher.submit(n)) for n in (2, 3)] == [4, 9]
    batcher.close()


def test_jobs_that_come_late_wait_for_the_next_batch() -> None:
    work = Squares()
    batcher = Batcher(work, 8)

    async def one_after_another() -> None:
        await batcher.submit(1)
        await submit_all(batcher, [2, 3])

    asyncio.run(one_after_another())
    assert work.batches == [[1], [2, 3]]
    batcher.close()


class OneByOne:
    """A worker that answers the smallest job that it has, and is given others."""

    def __init__(self) -> None:
        self.worked_on: list[list[int]] = []

    def __call__(self, jobs: Sequence[int], _: threading.Event) -> Answers[int, int]:
        had: dict[int, int] = {}
        n = 0
        while True:
            for job in jobs:
                had[n] = job
                n += 1
            self.worked_on.append(sorted(had.values()))
            if 13 in had.values():
                raise GdeError("bad luck")
            number = min(had, key=lambda each: had[each])
            jobs = yield {number: had.pop(number) ** 2}


def test_jobs_join_those_that_are_left() -> None:
    work = OneByOne()
    batcher = Batcher(work, 3)

    async def twice(job: int) -> list[int]:
        return [await batcher.submit(job), await batcher.submit(job + 5)]

    async def all_of_them() -> list[list[int]]:
        return await asyncio.gather(*map(twice, (1, 2, 9)))

    assert asyncio.run(all_of_them()) == [[1, 36], [4, 49], [81, 196]]
    assert work.worked_on[:4] == [[1, 2, 9], [2, 6, 9], [6, 7, 9], [7, 9]]
    batcher.close()


def test_a_failure_spares_those_who_were_answered_before() -> None:
    batcher = Batcher(OneByOne(), 2)
    answers = asyncio.run(submit_all(batcher, [1, 2, 13, 4]))
    assert [type(answer) for answer in answers] == [int, GdeError, GdeError, int]
    batcher.close()


def test_a_cancelled_job_is_not_worked_on() -> None:
    work = Squares()
    batcher = Batcher(work, 8)

    async def cancel_one() -> int:
        kept, dropped = (
            asyncio.create_task(batcher.submit(5)),
            asyncio.create_task(batcher.submit(6)),
        )
        await asyncio.sleep(0)
        dropped.cancel()
        return await kept

    assert asyncio.run(cancel_one()) == 25
    assert work.batches == [[5]]
    batcher.close()


def test_an_interrupted_run_stops_the_worker() -> None:
    begun, given_up = threading.Event(), threading.Event()

    def endless(jobs: Sequence[int], halt: threading.Event) -> Answers[int, int]:
        begun.set()
        assert halt.wait(10)
        given_up.set()
        yield dict(enumerate(jobs))

    batcher: Batcher[int, int] = Batcher(endless, 8)

    async def interrupted() -> None:
        waiting = asyncio.create_task(batcher.submit(1))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        waiting.cancel()

    began = time.monotonic()
    asyncio.run(interrupted())
    assert given_up.wait(5)
    assert time.monotonic() - began < 5
    batcher.close()


def test_a_closed_batcher_refuses() -> None:
    batcher = Batcher(Squares(), 8)
    batcher.close()
    with pytest.raises(RuntimeError):
        asyncio.run(batcher.submit(1))


PROGRAM = """
import asyncio, time
from gde.parts.batching import Batcher
def endless(jobs, halt):
    yield {0: time.sleep(600)}
async def left():
    waiting = asyncio.create_task(batcher.submit(1))
    await asyncio.sleep(0.2)
    waiting.cancel()
batcher = Batcher(endless, 8)
asyncio.run(left())
batcher.close()
"""


def test_work_that_cannot_be_stopped_keeps_no_process_alive() -> None:
    began = time.monotonic()
    assert subprocess.run([sys.executable, "-c", PROGRAM], timeout=120).returncode == 0
    assert time.monotonic() - began < 60


def test_a_batcher_that_is_forgotten_is_gone() -> None:
    work = Squares()
    batcher = Batcher(work, 8)
    assert asyncio.run(batcher.submit(3)) == 9
    thread, batcher_gone = batcher._thread, weakref.ref(batcher)
    del batcher
    gc.collect()
    assert batcher_gone() is None
    thread.join(10)
    assert not thread.is_alive()
