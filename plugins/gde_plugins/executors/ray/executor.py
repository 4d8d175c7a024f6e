"""Jobs as tasks of Ray. A task that is lost with its machine restarts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import ray
from ray import cloudpickle
from ray.exceptions import RayError

from gde.errors import GdeError, RunFailed, WorkerDied
from gde.parts.executor import Ask, after_death
from gde_plugins.executors.config import RayConfig
from gde_plugins.executors.ray.cluster import check_address, cluster, cores, here
from gde_plugins.executors.ray.task import Message, Post, work
from gde_plugins.executors.work import STOPPED, opened, outcome

Item = TypeVar("Item")
Output = TypeVar("Output")
LOOK = 0.2
"""Seconds between two checks for a stop of the work."""


class OnRay:
    """Implements `gde.parts.executor.WorksFarAway` and `KeepsWorkers`."""

    asked = True

    def __init__(self, config: RayConfig) -> None:
        self.workers = config.workers
        self._config = config
        self._stopped = False

    def check(self, wanted: object) -> None:
        """Refuse work that cannot be sent, before anything is written.

        Raises:
            GdeError: the work cannot be pickled, or nothing listens at the address.
        """
        check_address(self._config.address)
        try:
            cloudpickle.dumps(wanted)
        except Exception as error:
            raise GdeError(
                f"executor 'ray' cannot send an object to its workers ({error}): use the executor serial"
            ) from error

    def stop(self) -> None:
        """End all work, for good."""
        self._stopped = True

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Keep the cluster: its workers load a model once."""
        with cluster(self._config):
            yield

    def map(
        self,
        job: Callable[..., Output],
        items: Sequence[Item],
        answer: Ask | None = None,
    ) -> Iterator[Output]:
        """Yield the job's outputs as they come.

        Raises:
            WorkerDied: a worker has died, and the job cannot go on.
        """
        if not items:
            return
        with cluster(self._config):
            desk = _Desk(self._config, job, answer)
            try:
                waiting = [*items][::-1]
                while waiting or desk.under_way:
                    while waiting and len(desk.under_way) < self.workers:
                        desk.begin(waiting.pop())
                    yield from desk.look()
                    if self._stopped:
                        raise RunFailed(STOPPED)
            finally:
                desk.close()


class _Desk:
    """The caller's end of the running tasks."""

    def __init__(self, config: RayConfig, job: Any, answer: Ask | None) -> None:
        self._job = job
        self._answer = answer
        self._work: Any = ray.remote(work).options(
            num_cpus=cores(config), num_gpus=config.gpus, max_retries=0
        )
        self._post: Any = (
            ray.remote(Post).options(num_cpus=0, scheduling_strategy=here()).remote()
        )
        self._mail = self._post.fetch.remote()
        self.under_way: dict[Any, tuple[int, Any]] = {}
        """The attempt and the item of each task."""
        self._n = 0

    def begin(self, item: Any) -> None:
        """Begin one more task."""
        self._n += 1
        packed = cloudpickle.dumps((self._job, item, self._answer is not None))
        self.under_way[self._work.remote(packed, self._n, self._post)] = self._n, item

    def look(self) -> Iterator[Any]:
        """Answer messages, yield outputs that have arrived, and begin lost tasks
        anew.
        """
        ready, _ = ray.wait([self._mail, *self.under_way], num_returns=1, timeout=LOOK)
        for task in ready:
            if task == self._mail:
                self._answer_all(ray.get(task))
                self._mail = self._post.fetch.remote()
                continue
            _, item = self.under_way.pop(task)
            try:
                packed = ray.get(task)
            except RayError as error:
                self.begin(after_death(self._job, item, WorkerDied(_death(error))))
                continue
            yield opened(packed)

    def close(self) -> None:
        """Cancel the running tasks."""
        for task in self.under_way:
            ray.cancel(task, force=True)
        ray.kill(self._post)

    def _answer_all(self, messages: Sequence[Message]) -> None:
        alive = {attempt for attempt, _ in self.under_way.values()}
        answers = {}
        for number, attempt, message in messages:
            if attempt in alive:
                answers[number] = outcome(partial(self._answered, message))
        self._post.reply.remote(answers)

    def _answered(self, message: bytes) -> Any:
        assert self._answer is not None
        return self._answer(cloudpickle.loads(message))


def _death(error: RayError) -> str:
    said = " ".join(str(error).split())
    return f"was lost before its work was done ({type(error).__name__}: {said[:150]})"
