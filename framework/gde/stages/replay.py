"""A language model that remembers: what was answered before an interruption is never asked for again."""

from collections.abc import Mapping
from dataclasses import astuple
from hashlib import sha256

from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.parts.language_model import LanguageModel


def request_key(request: ChatRequest) -> str:
    """Equal for requests that must get equal completions."""
    return sha256(repr(astuple(request)).encode()).hexdigest()


class Remembering:
    """Stands before the run's language model in one episode and notes what was asked in each turn."""

    def __init__(self, model: LanguageModel, known: Mapping[str, Completion]) -> None:
        self._model, self._known = model, known
        self._calls: list[tuple[str, Completion]] = []

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def complete(self, request: ChatRequest) -> Completion:
        """The remembered completion of this request, else a new one."""
        key = request_key(request)
        completion = self._known.get(key) or await self._model.complete(request)
        self._calls.append((key, completion))
        return completion

    def take(self) -> tuple[tuple[str, Completion], ...]:
        """The calls since the last take."""
        calls, self._calls = tuple(self._calls), []
        return calls

    def close(self) -> None:
        """The model belongs to the run and stays open."""
