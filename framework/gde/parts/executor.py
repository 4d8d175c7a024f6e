"""Where the work of a stage is done."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")
Output = TypeVar("Output")


@runtime_checkable
class Executor(Protocol):
    """Runs one job over many items; never changes a result."""

    @property
    def workers(self) -> int:
        """How many items are worked on at once."""

    def map(self, job: Callable[[Item], Output], items: Sequence[Item]) -> Iterator[Output]:
        """The job's outputs, in any order. Job, items and outputs can be pickled between processes."""
