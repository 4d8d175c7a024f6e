"""A model that is asked where the run's executor works."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil
from threading import Event

from gde.data.completion import ChatRequest, Completion
from gde.errors import GdeError
from gde.parts.batching import Answers, Batcher
from gde.parts.executor import KeepsWorkers
from gde.parts.language_model import LanguageModel
from gde.stages.asking import Decorator
from gde.stages.elsewhere import Elsewhere
from gde.stages.models import Models

Answer = Completion | GdeError
"""An answer, or why there is none."""
Piece = Sequence[tuple[int, ChatRequest]]
"""Requests with their numbers, for one worker."""
REQUESTS = 128
"""The most requests of a piece: enough for a model to fill its batches, and what a death
of the run loses.
"""


class AskedElsewhere(Decorator):
    """Answers where an executor works; all else is asked of the model in this process."""

    def __init__(
        self,
        model: LanguageModel,
        executor: KeepsWorkers,
        spread: Callable[[Sequence[Piece]], Iterator[dict[int, Answer]]],
    ) -> None:
        """Take the model, and what answers pieces by the workers of an executor."""
        super().__init__(model)
        self._executor = executor
        self._spread = spread
        self._kept = ExitStack()
        self._begun = False
        self._batcher: Batcher[ChatRequest, Answer] = Batcher(self._answers, 10**6)

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer a request together with all that are asked meanwhile.

        Raises:
            GdeError: as the model does.
            RunFailed: stopped from outside, or a worker has died.
        """
        if not self._begun:
            self._begun = True
            # Each worker loads the model once.
            self._kept.enter_context(self._executor.keeping())
        answer = await self._batcher.submit(request)
        if isinstance(answer, GdeError):
            raise answer
        return answer

    def close(self) -> None:
        """End the workers; the model belongs to the run."""
        self._batcher.close()
        self._kept.close()

    def _answers(
        self, requests: Sequence[ChatRequest], halt: Event
    ) -> Answers[Answer, ChatRequest]:
        numbered = [*enumerate(requests)]
        n = len(numbered)
        while numbered and not halt.is_set():
            pieces = pieces_of(numbered, self._executor.workers)
            numbered = []
            for answers in self._spread(pieces):
                further = yield answers
                numbered += enumerate(further, start=n)
                n += len(further)


def pieces_of(requests: Piece, workers: int) -> list[Piece]:
    """Divide requests among workers."""
    size = min(REQUESTS, ceil(len(requests) / workers))
    return [requests[at : at + size] for at in range(0, len(requests), size)]


@dataclass(frozen=True, kw_only=True)
class AskElsewhere:
    """Asks a model in a worker process. It can be pickled."""

    where: Elsewhere

    def __call__(self, piece: Piece) -> dict[int, Answer]:
        """Answer a piece; the model stays for the next one.

        Raises:
            GdeError: the model or its software is another one here.
        """
        return asyncio.run(_answered(self.where.work(self._begin), piece))

    def _begin(self, models: Models) -> Decorator:
        return Decorator(models.get(self.where.name))


async def _answered(model: LanguageModel, piece: Piece) -> dict[int, Answer]:
    answers = await asyncio.gather(*(_answer(model, request) for _, request in piece))
    numbers = [number for number, _ in piece]
    return dict(zip(numbers, answers, strict=True))


async def _answer(model: LanguageModel, request: ChatRequest) -> Answer:
    # The refusal of one request is no fault of the others.
    try:
        return await model.complete(request)
    except GdeError as error:
        return error
