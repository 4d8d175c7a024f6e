"""Models that answer nobody: a run that gets nowhere stops, and what was lost to a moment's outage comes again."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterable
from typing import Generic, TypeVar

from gde.errors import RunFailed, Unavailable

ItemT = TypeVar("ItemT")
PATIENCE = 3
"""Requests in a row, each after all the tries that the model itself makes, that a model may leave without answer."""
POLL = 0.01
"""Seconds between two looks at whether others were answered."""


class Reach:
    """Whether the models of a run answer."""

    def __init__(self) -> None:
        self.answers = 0
        """How many there were, of all models."""
        self._unanswered: Counter[str] = Counter()

    def answered(self, name: str) -> None:
        """A model has answered."""
        self.answers += 1
        self._unanswered.pop(name, None)

    def unanswered(self, name: str, error: Unavailable) -> None:
        """A model has not.

        Raises:
            RunFailed: it has not for some time, and to nobody.
        """
        self._unanswered[name] += 1
        if self._unanswered[name] >= PATIENCE:
            raise stopped(error) from error


class SecondChances(Generic[ItemT]):
    """Items one after another. Those that a model has not answered for come again after all others, once: as soon as
    it has answered others, so that it is the item's own fault, or when nothing else is left, so that it is away."""

    def __init__(self, items: Iterable[ItemT], reach: Reach) -> None:
        self._items, self._reach = iter(items), reach
        self._busy = 0
        self._again: deque[tuple[ItemT, str]] = deque()
        self._answers: dict[str, int] = {}
        """How many there were when an item was put back, by its name."""

    async def each(self) -> AsyncGenerator[ItemT, None]:
        """The items that come to one of several workers."""
        while (item := await self._next()) is not None:
            self._busy += 1
            try:
                yield item
            finally:
                self._busy -= 1

    async def _next(self) -> ItemT | None:
        for item in self._items:
            return item
        while self._again:
            if not self._busy or self._answered_since(self._again[0][1]):
                return self._again.popleft()[0]
            await asyncio.sleep(POLL)
        return None

    def _answered_since(self, name: str) -> bool:
        return self._reach.answers > self._answers[name]

    def put_back(self, item: ItemT, name: str, error: Unavailable) -> bool:
        """Whether the item, which is known by a name, comes again; if not, it has failed.

        Raises:
            RunFailed: it has come again, and nobody was answered meanwhile.
        """
        if name not in self._answers:
            self._answers[name] = self._reach.answers
            self._again.append((item, name))
            return True
        if not self._answered_since(name):
            raise stopped(error) from error
        return False


def stopped(error: Unavailable) -> RunFailed:
    """Why the run stops by itself."""
    advice = "go on with `gde resume` when it answers again, or `gde rescore` makes a result of what there is"
    return RunFailed(f"{error}; nobody is answered, so the run has stopped; what was finished is kept: {advice}")
