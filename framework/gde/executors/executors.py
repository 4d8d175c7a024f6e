"""The executors that come with gde: here, or in processes of their own."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from types import FunctionType
from typing import Annotated, Any, TypeVar

from annotated_types import Ge

from gde.errors import GdeError, WorkerDied
from gde.executors.workers import Crew
from gde.parts.executor import after_death

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
    """Processes at once; each loads the language model for itself, and computes in its share of the cores."""


class Processes:
    """Implements `gde.parts.executor.WorksElsewhere`: items spread over fresh processes, which share nothing with this
    one but the run folder."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = Lock()
        self._crews: list[Crew] = []
        self._stopped = False

    def check(self, work: object) -> None:
        """Before anything is written.

        Raises:
            GdeError: the work cannot be pickled, or is of the script that is running, which no worker loads.
        """
        pickled(work, "processes")

    def map(self, job: Callable[[Item], Output], items: Sequence[Item]) -> Iterator[Output]:
        """The job's outputs as they come. In the place of a worker that has died, another one goes on.

        Raises:
            GdeError: job or items cannot be sent to a worker.
            WorkerDied: a worker has died, and the job cannot go on. The others are stopped.
        """
        if not items:
            return
        crew = self._crew(min(self.workers, len(items)))

        def do(item: Item) -> Output:
            while True:
                try:
                    done: Output = crew.do(pickle.dumps(pickled((job, item), "processes")))
                except WorkerDied as died:
                    item = after_death(job, item, died)
                else:
                    return done

        pool = ThreadPoolExecutor(self.workers, thread_name_prefix="gde-worker")
        try:
            for done in as_completed([pool.submit(do, each) for each in items]):
                yield done.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            crew.end()
            crew.wait()
            pool.shutdown()

    def stop(self) -> None:
        """End all workers, for good."""
        with self._lock:
            self._stopped = True
        for crew in self._crews:
            crew.end()

    def _crew(self, size: int) -> Crew:
        with self._lock:
            crew = Crew(size, ended=self._stopped)
            self._crews.append(crew)
        return crew


class _Pickler(pickle.Pickler):
    """Refuses what a worker could not find again."""

    def __init__(self, file: BytesIO, executor: str) -> None:
        super().__init__(file)
        self._executor = executor

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type | FunctionType) and value.__module__ == "__main__":
            where = "is defined in the script or notebook that is running, which its workers do not load"
            advice = "put it into a module of its own, or take the executor serial"
            raise GdeError(f"executor {self._executor!r}: {value.__qualname__} {where}: {advice}")
        return NotImplemented


def pickled(work: object, executor: str) -> bytes:
    """Work for the processes of an executor.

    Raises:
        GdeError: it cannot be pickled, or would not be found by them.
    """
    file = BytesIO()
    try:
        _Pickler(file, executor).dump(work)
    except GdeError:
        raise
    except Exception as error:
        advice = "define it at the top of a module, or take the executor serial"
        raise GdeError(f"executor {executor!r} cannot send an object to its workers ({error}): {advice}") from error
    return file.getvalue()
