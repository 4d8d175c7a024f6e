"""The protocols of executors, which do the work of a stage."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, runtime_checkable

from gde.errors import WorkerDied

Item = TypeVar("Item")
Output = TypeVar("Output")


@runtime_checkable
class Executor(Protocol):
    """Runs one job over many items; never changes a result."""

    @property
    def workers(self) -> int:
        """The number of items that are worked on at once."""

    def map(
        self, job: Callable[[Item], Output], items: Sequence[Item]
    ) -> Iterator[Output]:
        """Yield the job's outputs, in any order.

        Job, items and outputs can be pickled between processes.
        """


@runtime_checkable
class WorksElsewhere(Executor, Protocol):
    """An executor whose work leaves this process.

    It checks work before the run begins, and a call stops its work.
    """

    def check(self, work: object) -> None:
        """Refuse work before anything is written.

        Raises:
            GdeError: the work cannot be sent to where it would be done.
        """

    def stop(self) -> None:
        """End the current work; called from another thread.

        `map` may then raise anything.
        """


@runtime_checkable
class KeepsWorkers(WorksElsewhere, Protocol):
    """An executor whose workers can stay from one `map` to the next."""

    def keeping(self) -> AbstractContextManager[None]:
        """Keep them, with what they have loaded, until the context ends."""


Ask = Callable[[Any], Any]
"""Takes a message, waits for the answer and gives it. Both can be pickled."""


@runtime_checkable
class WorksFarAway(WorksElsewhere, Protocol):
    """An executor whose workers may be on machines that do not see the run folder.

    Workers ask for what they need of the run and send what is to be kept, so that one
    process writes.
    """

    asked: bool
    """True: `map` takes `answer`."""

    def map(
        self,
        job: Callable[..., Output],
        items: Sequence[Item],
        answer: Ask | None = None,
    ) -> Iterator[Output]:
        """Yield the job's outputs, as `Executor.map`.

        With `answer`, the job is called with an item and an `Ask`. Its messages are
        answered one after another, in the thread that iterates. A worker that counts as
        dead gets no more answers.
        """


@runtime_checkable
class Survivable(Protocol):
    """A job that can go on after a worker has died over it."""

    def after_death(self, item: Any, died: WorkerDied) -> Any:
        """The item that another worker does instead.

        Called in the process that called `map`.

        Raises:
            WorkerDied: there is no use in that.
        """


def after_death(job: object, item: Item, died: WorkerDied) -> Item:
    """Give the item with which another worker goes on after one has died.

    Raises:
        WorkerDied: the job cannot go on.
    """
    if not isinstance(job, Survivable):
        raise died
    instead: Item = job.after_death(item, died)
    return instead
