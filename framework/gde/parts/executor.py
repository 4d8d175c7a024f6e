"""Where the work of a stage is done."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from gde.errors import WorkerDied

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


@runtime_checkable
class WorksElsewhere(Executor, Protocol):
    """An executor whose work leaves this process. It is told what others see by themselves."""

    def check(self, work: object) -> None:
        """Before anything is written.

        Raises:
            GdeError: the work cannot be sent to where it would be done.
        """

    def stop(self) -> None:
        """End the work that is under way; called from another thread. `map` may raise whatever comes of it."""


Ask = Callable[[Any], Any]
"""Takes a message, waits for the answer and gives it. Both can be pickled."""


@runtime_checkable
class WorksFarAway(WorksElsewhere, Protocol):
    """An executor whose workers may be on machines that do not see the run folder. They ask for what they need of it,
    and tell what is to be kept: there is one writer."""

    asked: bool
    """True: `map` takes who answers."""

    def map(self, job: Callable[..., Output], items: Sequence[Item], answer: Ask | None = None) -> Iterator[Output]:
        """The same. With `answer`, the job is called with an item and an `Ask`. What it asks is answered here, in the
        thread that iterates, one message after another; of a worker that is taken to be dead, nothing is answered any
        more."""


@runtime_checkable
class Survivable(Protocol):
    """A job that can go on where a worker has died over it."""

    def after_death(self, item: Any, died: WorkerDied) -> Any:
        """Called in the process that called `map`: the item that another worker is to do instead.

        Raises:
            WorkerDied: there is no use in that.
        """


def after_death(job: object, item: Item, died: WorkerDied) -> Item:
    """What another worker is to do after one has died.

    Raises:
        WorkerDied: the job cannot go on.
    """
    if not isinstance(job, Survivable):
        raise died
    instead: Item = job.after_death(item, died)
    return instead
