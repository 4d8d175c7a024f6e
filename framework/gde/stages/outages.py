"""Models out of reach: a short outage costs no episode, a long one stops the run."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeVar

from gde.errors import RunFailed, Unavailable

ItemT = TypeVar("ItemT")
PATIENCE = 3
"""Requests in a row, each after all the tries of the model itself, that may fail before
the run stops.
"""
POLL = 0.01
"""Seconds between two looks at whether other requests succeeded."""


class Reach:
    """Counts which requests to the models of a run succeed."""

    def __init__(self) -> None:
        self.answers = 0
        """Requests that succeeded, of all models."""
        self._unanswered: Counter[str] = Counter()
        """Outages since a model's last answer, by its name."""

    def answered(self, name: str) -> None:
        """Count a request that succeeded."""
        self.answers += 1
        self._unanswered.pop(name, None)

    def unanswered(self, name: str, error: Unavailable) -> None:
        """Count a request that found the model out of reach.

        Raises:
            RunFailed: it was the last of `PATIENCE` in a row.
        """
        self._unanswered[name] += 1
        if self._unanswered[name] >= PATIENCE:
            raise stopped(error) from error


class SecondChances(Generic[ItemT]):
    """Hands out items in order; repeats one whose model was unavailable at the end.

    An item is repeated once.

    It comes again when another request has succeeded since, or when nothing else is
    left. If it fails a second time although others succeeded, the fault is its own, and
    where it may be, also if nothing else is left.
    """

    def __init__(self, items: Iterable[ItemT], reach: Reach) -> None:
        self._items = iter(items)
        self._reach = reach
        self._busy = 0
        """Items that a worker has at the moment."""
        self._again: deque[tuple[ItemT, str]] = deque()
        """Items that were put back, with their names."""
        self._answers: dict[str, int] = {}
        """Requests that had succeeded when an item was put back, by its name."""

    async def handle(
        self, by: Callable[[ItemT], Awaitable[None]], at_once: int = 1
    ) -> None:
        """Have every item handled by a function, so many of them at a time.

        Raises:
            RunFailed: the function does, which ends the others.
        """
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(at_once):
                    group.create_task(self._work(by))
        except* RunFailed as failures:
            raise failures.exceptions[0] from None

    async def _work(self, by: Callable[[ItemT], Awaitable[None]]) -> None:
        while (item := await self._next()) is not None:
            self._busy += 1
            try:
                await by(item)
            finally:
                self._busy -= 1

    def put_back(self, item: ItemT, name: str, error: Unavailable) -> bool:
        """Put an item back and say whether it comes again; if not, it has failed.

        Raises:
            RunFailed: it has come again, and no request has succeeded meanwhile, though
                the fault cannot be its own.
        """
        if name not in self._answers:
            self._answers[name] = self._reach.answers
            self._again.append((item, name))
            return True
        if not error.request and not self._answered_since(name):
            raise stopped(error) from error
        return False

    async def _next(self) -> ItemT | None:
        for item in self._items:
            return item
        while self._again:
            item, name = self._again[0]
            # While others are under way, their answers may still show that the model is
            # back.
            if not self._busy or self._answered_since(name):
                self._again.popleft()
                return item
            await asyncio.sleep(POLL)
        return None

    def _answered_since(self, name: str) -> bool:
        return self._reach.answers > self._answers[name]


def stopped(error: Unavailable) -> RunFailed:
    """Say why the run stops by itself."""
    advice = "resume with `gde resume` once the model answers; `gde rescore` evaluates the finished episodes"
    return RunFailed(
        f"{error}; no later request succeeded; run stopped; finished work is kept: {advice}"
    )
