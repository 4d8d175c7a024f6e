"""The check of executors (`gde.parts.executor`)."""

from collections.abc import Callable

from gde.parts.executor import Executor, KeepsWorkers
from gde.testing.promises import (
    promise,
    promise_equal,
    promise_protocol,
    promise_raises,
)

ITEMS = (3, 1, 2, 0)


class JobFailed(Exception):
    """The error of the check's failing job."""


def check_executor(make: Callable[[], Executor]) -> None:
    """Map jobs over items and check every promise of `Executor`.

    Raises:
        AssertionError: a promise is broken.
    """
    executor = make()
    promise_protocol(executor, Executor)
    promise(
        executor.workers >= 1, f"workers must be at least 1, got {executor.workers}"
    )

    expected = [0, 1, 4, 9]
    for items in (ITEMS, ITEMS[::-1]):
        promise_equal(
            sorted(executor.map(square, items)),
            expected,
            "map must give the job's output for every item once, in any order",
        )
    promise_equal(
        list(executor.map(square, ())), [], "map over nothing must give nothing"
    )
    if isinstance(executor, KeepsWorkers):
        with executor.keeping():
            for _ in range(2):
                promise_equal(
                    sorted(executor.map(square, ITEMS)),
                    expected,
                    "workers that are kept must do what new ones do",
                )
    with promise_raises(JobFailed, "map must raise what the job raises"):
        list(executor.map(fail, ITEMS))


def square(item: int) -> int:
    """A job that can be pickled."""
    return item * item


def fail(item: int) -> int:
    """A job that fails for one item."""
    if item == 2:
        raise JobFailed("item 2")
    return item
