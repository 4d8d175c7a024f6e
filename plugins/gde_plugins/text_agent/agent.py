"""One turn of the agent: prompt, completion, decision."""

from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import replace

from gde.data.answer import TOOL, Reading, read_answer
from gde.data.answer_rules import KEY
from gde.data.completion import (
    AnswerForm,
    ChatRequest,
    Completion,
    Effort,
    Message,
    Sampling,
)
from gde.data.observation import Observation
from gde.data.stated_map import noted
from gde.data.trajectory import Decision
from gde.errors import GdeError
from gde.parts.agent import Brief
from gde.parts.context import Context
from gde.parts.language_model import HasProbabilities
from gde.seeding import derive
from gde_plugins.text_agent.config import TextAgentConfig
from gde_plugins.text_agent.prompts import (
    Exchange,
    compact,
    converse,
    map_question,
    paper,
)

EMBEDDED = "nano"
"""All trainings of nano use the compact style and reason at effort medium."""
LEAST = 0.001
"""Minimum probability of an answer that counts in a turn's action probabilities."""


class TextAgent:
    """Asks a language model for one action a turn.

    An unusable answer is reported; one of another form than the wanted says which rule
    has read it.
    """

    def __init__(self, config: TextAgentConfig, context: Context) -> None:
        model = context.model(config.model)
        self._config = config
        self._model = model

        name, _, _ = model.info.name.partition(":")
        embedded = name == EMBEDDED
        style = config.style
        if style == "auto":
            style = "compact" if embedded else "paper"
        self._prompt = compact if style == "compact" else paper

        self._effort: Effort
        if config.effort == "auto":
            self._effort = "medium" if embedded else "low"
        else:
            self._effort = config.effort
        self._sampling = Sampling(
            temperature=config.temperature,
            top_p=config.top_p,
            max_tokens=config.max_tokens,
        )

    def begin(self, brief: Brief) -> None:
        self._brief = brief
        self._turn = 0
        history = self._config.history
        limit = None if history == "all" else history
        self._past: deque[Exchange] = deque(maxlen=limit)

    async def act(self, observation: Observation) -> Decision:
        """Ask once; an error of the model becomes a decision of status "error"."""
        request = self._request(observation)
        probabilities: Mapping[str, float] = {}
        try:
            if self._config.probabilities:
                probabilities = await self.action_probabilities(observation, LEAST)
            self._turn += 1
            completion = await self._model.complete(request)
            stated = await self._stated_map(request, completion.text)
        except GdeError as error:
            return Decision.unusable("error", str(error))
        self._past.append(Exchange(observation=observation, answer=completion.text))
        decision = self._read(completion, observation).decision(completion)
        if stated is not None:
            detail = noted(decision.detail, stated, self._config.map_query_age)
            decision = replace(decision, detail=detail)
        return replace(decision, probabilities=probabilities)

    async def _stated_map(self, request: ChatRequest, answer: str) -> str | None:
        """Return the model's answer to the question for the map; None if unasked.

        The question follows the answer of the same turn, so that it cannot change the
        action, and later turns do not show it.
        """
        age = self._config.map_query_age
        # The turn of this answer is counted already.
        if not self._config.map_query or self._turn <= age:
            return None
        asked = (
            *request.messages,
            Message(role="assistant", content=answer),
            Message(role="user", content=map_question(age)),
        )
        seed = derive(request.seed, "map")
        completion = await self._model.complete(
            replace(request, messages=asked, seed=seed, form=None)
        )
        return completion.text

    async def action_probabilities(
        self, observation: Observation, least: float
    ) -> Mapping[str, float]:
        """Return the probability of each action: the sum over completions that name it.

        Completions less probable than `least` are left out.

        Raises:
            GdeError: the language model cannot enumerate its answers, or cannot be
                asked.
        """
        if not isinstance(self._model, HasProbabilities):
            raise GdeError(
                f"model {self._model.info.name!r} cannot enumerate its answers: draw samples"
            )
        probabilities: dict[str, float] = defaultdict(float)
        for weighed in await self._model.completions(self._request(observation), least):
            action = self._read(weighed.completion, observation).action
            if action is not None:
                probabilities[action] += weighed.probability
        return probabilities

    def _read(self, completion: Completion, observation: Observation) -> Reading:
        config = self._config
        actions = observation.actions
        return read_answer(completion, actions, config.actions, strict=config.strict)

    def _request(self, observation: Observation) -> ChatRequest:
        messages = converse(
            self._prompt,
            self._brief.task,
            self._past,
            observation,
            self._config.actions,
        )
        return ChatRequest(
            messages=messages,
            seed=derive(self._brief.seed, "turn", self._turn),
            sampling=self._sampling,
            effort=self._effort,
            form=self._form(observation),
        )

    def _form(self, observation: Observation) -> AnswerForm | None:
        """Return the form that the server enforces, if any."""
        actions = observation.actions
        choices = None if actions is None else tuple(actions)
        match self._config.actions:
            case "schema":
                return AnswerForm(kind="schema", name=TOOL, field=KEY, choices=choices)
            case "tools":
                return AnswerForm(kind="tool", name=TOOL, field=KEY, choices=choices)
        return None
