"""Asks a language model again after an unusable answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from gde.data.completion import ChatRequest, Completion, Message, Sampling
from gde.parts.language_model import LanguageModel
from gde.seeding import derive
from gde_plugins.planning_agents.answers import Rejected, ended
from gde_plugins.planning_agents.config import ReactConfig
from gde_plugins.planning_agents.effort import Effort

ReadT = TypeVar("ReadT")


@dataclass
class Asker:
    """Asks for one agent in one episode. Every request has its own seed."""

    _model: LanguageModel
    _config: ReactConfig
    _seed: int
    _asked: int = 0

    async def complete(
        self, messages: tuple[Message, ...], effort: Effort
    ) -> Completion:
        """Ask one question and count it."""
        self._asked += 1
        effort.model_calls += 1
        config = self._config
        request = ChatRequest(
            messages=messages,
            seed=derive(self._seed, "question", self._asked),
            sampling=Sampling(
                temperature=config.temperature,
                top_p=config.top_p,
                max_tokens=config.max_tokens,
            ),
            effort=config.effort,
        )
        return await self._model.complete(request)

    async def ask(
        self,
        messages: tuple[Message, ...],
        read: Callable[[Completion], ReadT | Rejected],
        effort: Effort,
    ) -> tuple[ReadT | Rejected, Completion]:
        """Ask until an answer is usable, or all retries are spent.

        Returns:
            What was read from the last answer, or why it cannot be used; and that
            answer.
        """
        for attempt in range(self._config.retries + 1):
            completion = await self.complete(messages, effort)
            found = read(self.heard(completion))
            if not isinstance(found, Rejected):
                break
            if found.status == "invalid_action":
                effort.inadmissible += 1
            else:
                effort.malformed += 1
            if attempt < self._config.retries:
                answer = Message(role="assistant", content=self.heard(completion).text)
                feedback = Message(
                    role="user", content=f"Observation: {found.feedback}"
                )
                messages = (*messages, answer, feedback)
        return found, completion

    def heard(self, completion: Completion) -> Completion:
        """Return the relevant part of an answer."""
        if self._config.rest == "refused":
            return completion
        return replace(completion, text=ended(completion.text))
