"""A plugin in one file: an executor on Python's own process pool.

PYTHONPATH=examples GDE_LOAD_PLUGINS=own_executor gde eval --env grid --agent noisy
--executor pool --episodes 6
"""

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Annotated, Any

from annotated_types import Ge

from gde import Context, GdeError, Offer, hookimpl
from gde.errors import RunFailed


@dataclass(frozen=True, kw_only=True)
class PoolConfig:
    """Settings of the pool."""

    workers: Annotated[int, Ge(1)] = 2
    """Number of processes."""


class Pool:
    """Runs items in processes that share the file system."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pools: list[ProcessPoolExecutor] = []

    def check(self, work: object) -> None:
        try:
            pickle.dumps(work)
        except Exception as error:
            raise GdeError(
                f"executor 'pool' cannot send its work ({error}): take the executor serial"
            ) from error

    def map(self, job: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        with ProcessPoolExecutor(self.workers, mp_context=get_context("spawn")) as pool:
            self._pools.append(pool)
            try:
                yield from pool.map(job, items)
            except BrokenProcessPool as error:
                raise RunFailed(
                    f"executor 'pool': {error}; resume with `gde resume RUN`"
                ) from error

    def stop(self) -> None:
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)


def make(config: PoolConfig, _: Context) -> Pool:
    """Make the executor, once per run."""
    return Pool(config.workers)


@hookimpl
def gde_executors() -> Sequence[Offer[PoolConfig, Pool]]:
    """Offer the executor."""
    return (
        Offer(
            name="pool",
            summary="processes of Python's own pool",
            config=PoolConfig,
            make=make,
        ),
    )
