"""One turn of the agent: prompt, completion, decision."""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import replace

from gde.data.completion import ChatRequest, Effort, Sampling
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.language_model import HasProbabilities, LanguageModel
from gde.seeding import derive
from gde_plugins.text_agent.answers import decide
from gde_plugins.text_agent.config import TextAgentConfig
from gde_plugins.text_agent.prompts import Exchange, compact, converse, paper

EMBEDDED = "nano"
"""Any training of it, as `nano:plain`, has learned the compact style, and to reason at effort medium."""
LEAST = 0.001
"""Answers that are each less probable are left out of the probabilities that a turn keeps."""


class TextAgent:
    """Asks a language model for one action a turn; an unusable answer is reported, never repaired."""

    def __init__(self, config: TextAgentConfig, model: LanguageModel) -> None:
        embedded = model.info.name.partition(":")[0] == EMBEDDED
        style = ("compact" if embedded else "paper") if config.style == "auto" else config.style
        self._config, self._model = config, model
        self._prompt = compact if style == "compact" else paper
        self._effort: Effort = ("medium" if embedded else "low") if config.effort == "auto" else config.effort
        self._sampling = Sampling(temperature=config.temperature, top_p=config.top_p, max_tokens=config.max_tokens)

    def begin(self, brief: Brief) -> None:
        self._brief = brief
        self._turn = 0
        self._past: deque[Exchange] = deque(maxlen=self._config.history)

    async def act(self, observation: Observation) -> Decision:
        """Ask once; an error of the model is a decision of status "error"."""
        request = self._request(observation)
        try:
            told = await self.action_probabilities(observation, LEAST) if self._config.probabilities else {}
            self._turn += 1
            completion = await self._model.complete(request)
        except GdeError as error:
            return Decision.unusable("error", str(error))
        self._past.append(Exchange(observation=observation, answer=completion.text))
        return replace(decide(completion, observation.actions, strict=self._config.strict), probabilities=told)

    async def action_probabilities(self, observation: Observation, least: float) -> Mapping[str, float]:
        """Of each action: that of all completions that name it, of those that are as probable as `least` themselves.

        Raises:
            GdeError: the language model does not tell what it can answer, or cannot be asked.
        """
        if not isinstance(self._model, HasProbabilities):
            raise GdeError(f"model {self._model.info.name!r} does not tell how probable its answers are: draw samples")
        probabilities: dict[str, float] = defaultdict(float)
        for told in await self._model.completions(self._request(observation), least):
            action = decide(told.completion, observation.actions, strict=self._config.strict).action
            if action is not None:
                probabilities[action] += told.probability
        return probabilities

    def _request(self, observation: Observation) -> ChatRequest:
        return ChatRequest(
            messages=converse(self._prompt, self._brief.task, self._past, observation),
            seed=derive(self._brief.seed, "turn", self._turn),
            sampling=self._sampling,
            effort=self._effort,
        )
