"""Agents that follow a script, or ask a language model."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gde.data.activations import Intervention
from gde.data.completion import ChatRequest, Message
from gde.data.observation import Observation
from gde.data.trajectory import Decision
from gde.parts.agent import Brief
from gde.parts.language_model import LanguageModel
from gde.seeding import derive
from gde.testing.parts.corridor import RIGHT


@dataclass
class ScriptedAgent:
    """Takes the given actions in turn, from the first again after the last."""

    actions: Sequence[str] = (RIGHT,)
    _turn: int = field(default=-1, init=False)

    def begin(self, brief: Brief) -> None:
        """A script needs no preparation."""

    async def act(self, observation: Observation) -> Decision:  # noqa: ARG002 - a script looks at nothing
        self._turn += 1
        return Decision.act(self.actions[self._turn % len(self.actions)])


@dataclass
class AskingAgent:
    """Asks its language model and takes the answer as the action.

    The prompt is the observation. With interventions the agent steers.
    """

    model: LanguageModel
    interventions: tuple[Intervention, ...] = ()

    def begin(self, brief: Brief) -> None:
        self._seed = brief.seed
        self._turn = -1

    async def act(self, observation: Observation) -> Decision:
        self._turn += 1
        message = Message(role="user", content=observation.text)
        seed = derive(self._seed, self._turn)
        request = ChatRequest(
            messages=(message,), seed=seed, interventions=self.interventions
        )
        completion = await self.model.complete(request)
        if (
            observation.actions is not None
            and completion.text not in observation.actions
        ):
            detail = f"wanted one of {', '.join(observation.actions)}, got {completion.text!r}"
            return Decision.unusable("invalid_action", detail, completion)
        return Decision.act(completion.text, completion)
