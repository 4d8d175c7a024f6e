"""Work in several threads, with its outputs in order."""

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

WorkT = TypeVar("WorkT")
OutputT = TypeVar("OutputT")


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_lanes(
    do: Callable[[WorkT], OutputT], work: Sequence[WorkT], lanes: Sequence[int]
) -> Generator[OutputT]:
    """Do each lane's work in its own thread; yield outputs in order of `work`.

    A thread does the work of its lane in order. A single lane runs in the calling
    thread. Closing the iterator cancels the work that has not begun and waits for the
    rest.

    Args:
        do: called with each work; what it raises is raised in place of its output.
        work: all of it is queued at once, so outputs are held until they are asked for.
        lanes: the lane of each work.
    """
    if len(set(lanes)) < 2:
        yield from map(do, work)
        return

    pools = {
        lane: ThreadPoolExecutor(1, thread_name_prefix="gde-lane")
        for lane in set(lanes)
    }
    try:
        queued = deque(
            pools[lane].submit(do, each) for each, lane in zip(work, lanes, strict=True)
        )
        while queued:
            yield queued.popleft().result()
    finally:
        # No lane may begin another piece of work while an earlier lane is waited for.
        for pool in pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in pools.values():
            pool.shutdown()
