"""Models that answer nobody: a run that gets nowhere stops, and what was lost to a moment's outage comes again."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from gde.errors import RunFailed, Unavailable

ItemT = TypeVar("ItemT")
PATIENCE = 3
"""Requests in a row, each after all the tries that the model itself makes, that a model may leave without answer."""


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
    """Items one after another. Those that a model has not answered for come again after all others, once: by then it
    has answered others, and it is the item's own fault, or the model is away."""

    def __init__(self, items: Iterable[ItemT], reach: Reach) -> None:
        self._items, self._reach = iter(items), reach
        self._again: deque[ItemT] = deque()
        self._answers: dict[str, int] = {}
        """How many there were when an item was put back, by its name."""

    def __iter__(self) -> Iterator[ItemT]:
        return self

    def __next__(self) -> ItemT:
        try:
            return next(self._items)
        except StopIteration:
            if self._again:
                return self._again.popleft()
            raise

    def put_back(self, item: ItemT, name: str, error: Unavailable) -> bool:
        """Whether the item, which is known by a name, comes again; if not, it has failed.

        Raises:
            RunFailed: it has come again, and nobody was answered meanwhile.
        """
        if name not in self._answers:
            self._answers[name] = self._reach.answers
            self._again.append(item)
            return True
        if self._answers[name] == self._reach.answers:
            raise stopped(error) from error
        return False


def stopped(error: Unavailable) -> RunFailed:
    """Why the run stops by itself."""
    advice = "go on with `gde resume` when it answers again, or `gde rescore` makes a result of what there is"
    return RunFailed(f"{error}; nobody is answered, so the run has stopped; what was finished is kept: {advice}")
