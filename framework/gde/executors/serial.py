"""The executor `serial`."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Output = TypeVar("Output")


class Serial:
    """One item after another in this process."""

    workers = 1

    def map(
        self, job: Callable[[Item], Output], items: Sequence[Item]
    ) -> Iterator[Output]:
        return map(job, items)
