"""A task on a worker of the cluster, and its mailbox to the caller."""

import asyncio
from typing import Any

import ray
from ray import cloudpickle

from gde_plugins.executors.work import opened, outcome

Message = tuple[int, int, bytes]
"""Its number, the attempt that sends it, and its pickled content."""


class Post:
    """An actor beside the caller that keeps workers' messages and hands back answers."""

    def __init__(self) -> None:
        self._asked: asyncio.Queue[Message] = asyncio.Queue()
        self._answers: dict[int, asyncio.Future[bytes]] = {}
        self._n = 0

    async def ask(self, attempt: int, message: bytes) -> bytes:
        """Post a message and wait for its answer."""
        self._n += 1
        number = self._n
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._asked.put_nowait((number, attempt, message))
        return await answer

    async def fetch(self) -> list[Message]:
        """Wait for messages and return them."""
        messages = [await self._asked.get()]
        while not self._asked.empty():
            messages.append(self._asked.get_nowait())
        return messages

    async def reply(self, answers: dict[int, bytes]) -> None:
        """Hand answers back."""
        for number, answer in answers.items():
            if not (waiting := self._answers.pop(number)).done():
                waiting.set_result(answer)


def work(packed: bytes, attempt: int, post: Any) -> bytes:
    """Do a pickled job with its item and return the packed outcome.

    The job may ask by the mailbox.
    """

    def ask(message: Any) -> Any:
        return opened(ray.get(post.ask.remote(attempt, cloudpickle.dumps(message))))

    def done() -> Any:
        job, item, asks = cloudpickle.loads(packed)
        return job(item, ask) if asks else job(item)

    return outcome(done)
