"""Unavailable models: a short outage costs no episode, a long one stops the run."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncGenerator, Iterable
from typing import Generic, TypeVar

from gde.errors import RunFailed, Unavailable

ItemT = TypeVar("ItemT")
PATIENCE = 3
"""The run stops after so many requests in a row that a model leaves unanswered, each after the model's own retries."""
POLL = 0.01
"""Seconds between two checks whether other items were answered."""


class Reach:
    """Counts the answers and outages of the models of a run."""

    def __init__(self) -> None:
        self.answers = 0
        """The number of answers, of all models."""
        self._unanswered: Counter[str] = Counter()
        """Outages since a model's last answer, by its name."""

    def answered(self, name: str) -> None:
        """Count an answer of a model."""
        self.answers += 1
        self._unanswered.pop(name, None)

    def unanswered(self, name: str, error: Unavailable) -> None:
        """Count an outage of a model.

        Raises:
            RunFailed: the model left too many requests in a row unanswered.
        """
        self._unanswered[name] += 1
        if self._unanswered[name] >= PATIENCE:
            raise stopped(error) from error


class SecondChances(Generic[ItemT]):
    """Items for several workers, of which each item that met an outage comes a second time.

    It comes again after all other items. If models answer others meanwhile, a second failure is the item's own fault;
    if not, the models are away and the run stops.
    """

    def __init__(self, items: Iterable[ItemT], reach: Reach) -> None:
        self._items = iter(items)
        self._reach = reach
        self._busy = 0
        """Items that a worker has at the moment."""
        self._again: deque[tuple[ItemT, str]] = deque()
        """Items that were put back, with their names."""
        self._answers: dict[str, int] = {}
        """The number of answers when an item was put back, by the item's name."""

    async def each(self) -> AsyncGenerator[ItemT, None]:
        """The items for one of the workers."""
        while (item := await self._next()) is not None:
            self._busy += 1
            try:
                yield item
            finally:
                self._busy -= 1

    def put_back(self, item: ItemT, name: str, error: Unavailable) -> bool:
        """Put back an item that met an outage.

        Returns:
            Whether it comes again; if not, this was its second failure.

        Raises:
            RunFailed: this was its second failure, and no model has answered anybody since the first.
        """
        if name not in self._answers:
            self._answers[name] = self._reach.answers
            self._again.append((item, name))
            return True
        if not self._answered_since(name):
            raise stopped(error) from error
        return False

    async def _next(self) -> ItemT | None:
        for item in self._items:
            return item
        while self._again:
            item, name = self._again[0]
            # While others are under way, their answers may still show that the model is back.
            if not self._busy or self._answered_since(name):
                self._again.popleft()
                return item
            await asyncio.sleep(POLL)
        return None

    def _answered_since(self, name: str) -> bool:
        return self._reach.answers > self._answers[name]


def stopped(error: Unavailable) -> RunFailed:
    """The error that stops a run whose models are unavailable."""
    advice = "go on with `gde resume` when it answers again, or `gde rescore` makes a result of what there is"
    return RunFailed(f"{error}; nobody is answered, so the run has stopped; what was finished is kept: {advice}")
