"""One turn of the agent: prompt, completion, decision."""

from collections import deque

from gde.data.completion import ChatRequest, Sampling
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.language_model import LanguageModel
from gde.seeding import derive
from gde_plugins.text_agent.answers import decide
from gde_plugins.text_agent.config import TextAgentConfig
from gde_plugins.text_agent.prompts import Exchange, compact, converse, paper

EMBEDDED = "nano"


class TextAgent:
    """Asks a language model for one action a turn; an unusable answer is reported, never repaired."""

    def __init__(self, config: TextAgentConfig, model: LanguageModel) -> None:
        self._config, self._model = config, model
        self._sampling = Sampling(temperature=config.temperature, top_p=config.top_p, max_tokens=config.max_tokens)

    def begin(self, brief: Brief) -> None:
        self._brief = brief
        self._turn = 0
        self._past: deque[Exchange] = deque(maxlen=self._config.history)
        named = self._config.style != "auto"
        style = self._config.style if named else "compact" if self._model.info.name == EMBEDDED else "paper"
        self._prompt = compact if style == "compact" else paper

    async def act(self, observation: Observation) -> Decision:
        """Ask once; an error of the model is a decision of status "error"."""
        request = ChatRequest(
            messages=converse(self._prompt, self._brief.task, self._past, observation),
            seed=derive(self._brief.seed, "turn", self._turn),
            sampling=self._sampling,
            effort=self._config.effort,
        )
        self._turn += 1
        try:
            completion = await self._model.complete(request)
        except GdeError as error:
            return Decision.unusable("error", str(error))
        self._past.append(Exchange(observation=observation, answer=completion.text))
        return decide(completion, observation.actions, strict=self._config.strict)
