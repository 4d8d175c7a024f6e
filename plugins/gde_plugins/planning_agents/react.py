"""ReAct: a thought, then an action (Yao et al. 2023; Shen et al. 2026, appendix
C.6.1).
"""

from functools import partial

from gde.data.answer import Reading
from gde.data.completion import Completion
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.parts.agent import Brief
from gde.parts.context import Context
from gde_plugins.planning_agents.answers import Rejected, one_action
from gde_plugins.planning_agents.asking import Asker
from gde_plugins.planning_agents.config import ReactConfig
from gde_plugins.planning_agents.conversation import Conversation
from gde_plugins.planning_agents.effort import Effort


class React:
    """Asks a language model for a thought and an action.

    After an unusable answer it asks again.
    """

    _config: ReactConfig

    def __init__(self, config: ReactConfig, context: Context) -> None:
        self._config = config
        self._model = context.model(config.model)

    def begin(self, brief: Brief) -> None:
        self._asker = Asker(self._model, self._config, brief.seed)
        self._conversation = Conversation(
            brief.task, self._config.history, example=self._config.example
        )

    async def act(self, observation: Observation) -> Decision:
        return await self._decide(observation, Effort())

    async def _decide(
        self, observation: Observation, effort: Effort, advice: str = ""
    ) -> Decision:
        messages = self._conversation.one(observation, advice)
        strict = self._config.strict
        read = partial(one_action, actions=observation.actions, strict=strict)
        found, completion = await self._asker.ask(messages, read, effort)
        self._conversation.remember(observation, self._asker.heard(completion).text)
        return decision(found, effort, completion)


def decision(
    found: Reading | Rejected, effort: Effort, completion: Completion | None = None
) -> Decision:
    """Make a decision for an action, or for its absence, with the effort as detail."""
    if isinstance(found, Rejected):
        return Decision.unusable(
            found.status, f"{found.detail}; {effort.note}", completion
        )
    detail = "; ".join(filter(None, (found.note, effort.note)))
    return Decision(
        status="ok", action=found.action, detail=detail, completion=completion
    )
