"""A language model that is told when its answer cannot be used."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.language_model import LanguageModel
from gde.seeding import derive
from gde_plugins.planning_agents.answers import Rejected, ended
from gde_plugins.planning_agents.config import ReactConfig
from gde_plugins.planning_agents.effort import Effort

ReadT = TypeVar("ReadT")


class Asker:
    """Asks on behalf of one agent in one episode. Every request has a seed of its own."""

    def __init__(self, model: LanguageModel, config: ReactConfig, seed: int) -> None:
        self._model, self._config, self._seed = model, config, seed
        self._sampling = Sampling(temperature=config.temperature, top_p=config.top_p, max_tokens=config.max_tokens)
        self._asked = 0

    async def complete(self, messages: tuple[Message, ...], effort: Effort) -> Completion:
        """One question."""
        self._asked += 1
        effort.model_calls += 1
        seed = derive(self._seed, "question", self._asked)
        request = ChatRequest(messages=messages, seed=seed, sampling=self._sampling, effort=self._config.effort)
        return await self._model.complete(request)

    async def ask(
        self, messages: tuple[Message, ...], read: Callable[[Completion], ReadT | Rejected], effort: Effort
    ) -> tuple[ReadT | Rejected, Completion]:
        """What is read from the first answer that can be used, else why the last could not, and that answer."""
        for attempt in range(self._config.retries + 1):
            completion = await self.complete(messages, effort)
            found = read(self.heard(completion))
            if not isinstance(found, Rejected):
                break
            _count(found, effort)
            if attempt < self._config.retries:
                said = Message(role="assistant", content=self.heard(completion).text)
                messages = (*messages, said, Message(role="user", content=f"Observation: {found.feedback}"))
        return found, completion

    def heard(self, completion: Completion) -> Completion:
        """What is read of an answer."""
        return completion if self._config.rest == "refused" else replace(completion, text=ended(completion.text))


def _count(rejected: Rejected, effort: Effort) -> None:
    if rejected.status == "invalid_action":
        effort.inadmissible += 1
    else:
        effort.malformed += 1
