"""A language model whose answers a test sets, one after another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from gde.data.completion import ChatRequest, Completion, ModelInfo

Answer = str | Completion | Exception | Callable[[ChatRequest], str]
"""An answer; an exception to raise; or a function of the request."""


@dataclass
class AnsweringModel:
    """Gives its answers in turn, then repeats the last; keeps all requests.

    It cuts nothing off.
    """

    answers: Sequence[Answer]
    name: str = "answering"
    asked: list[ChatRequest] = field(default_factory=list)

    @property
    def info(self) -> ModelInfo:
        return ModelInfo(name=self.name)

    async def complete(self, request: ChatRequest) -> Completion:
        """The next answer.

        Raises:
            Exception: where that is the answer.
        """
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        self.asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        text = answer if isinstance(answer, str) else answer(request)
        return Completion(text=text, reasoning=None, finish="stop")

    def close(self) -> None:
        """Nothing to release."""
