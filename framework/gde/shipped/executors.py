"""The executors that come with gde: here, or in a pool of processes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from annotated_types import Ge

Item = TypeVar("Item")
Output = TypeVar("Output")


class Serial:
    """One item after another in this process."""

    workers = 1

    def map(self, job: Callable[[Item], Output], items: Sequence[Item]) -> Iterator[Output]:
        return map(job, items)


@dataclass(frozen=True)
class ProcessesConfig:
    """Configuration of the executor `processes`."""

    workers: Annotated[int, Ge(1)] = 2
    """Processes at once; each loads the language model for itself."""


@dataclass(frozen=True)
class Processes:
    """Items spread over fresh processes, which share nothing with this one but the run folder."""

    workers: int

    def map(self, job: Callable[[Item], Output], items: Sequence[Item]) -> Iterator[Output]:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor, as_completed

        # Forking a process that has loaded torch can deadlock, so workers start afresh.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self.workers, mp_context=context) as pool:
            for future in as_completed([pool.submit(job, item) for item in items]):
                yield future.result()
