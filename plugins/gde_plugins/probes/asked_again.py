"""Turns of a run put to its agent once more: what it asked its model then, and what it makes of another answer."""

from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.data.observation import Observation
from gde.data.trajectory import Trajectory, Turn
from gde.errors import GdeError
from gde.parts.context import Context
from gde.parts.language_model import LanguageModel


class Told:
    """Stands in for a language model: notes what it is asked, and gives the answer that it was told."""

    def __init__(self) -> None:
        self.answer: Completion | None = None
        self.asked: list[ChatRequest] = []
        self._model: LanguageModel | None = None

    def instead_of(self, model: LanguageModel) -> "Told":
        """Itself, which bears the name of the model."""
        self._model = model
        return self

    @property
    def info(self) -> ModelInfo:
        assert self._model is not None
        return self._model.info

    async def complete(self, request: ChatRequest) -> Completion:
        """The answer that it was told."""
        self.asked.append(request)
        assert self.answer is not None
        return self.answer

    def close(self) -> None:
        """The model belongs to the run."""


async def request_of(context: Context, trajectory: Trajectory, turn: Turn) -> ChatRequest:
    """What the agent asked its model in a turn.

    Raises:
        GdeError: it now asks something else, or more than one thing.
    """
    request = await request_when_shown(context, trajectory, turn, turn.observation)
    completion = turn.decision.completion
    if completion is None or request.asked_of(completion.model) != completion.request:
        raise GdeError(f"turn {turn.index} of episode {trajectory.key}: the agent no longer asks what it asked then")
    return request


async def request_when_shown(
    context: Context, trajectory: Trajectory, turn: Turn, observation: Observation
) -> ChatRequest:
    """What the agent would have asked its model in a turn, had it been shown this.

    Raises:
        GdeError: it asks nothing, or more than one thing.
    """
    asked = (await _shown(context, trajectory, turn, observation, turn.decision.completion))[0]
    if len(asked) != 1:
        where = f"turn {turn.index} of episode {trajectory.key}"
        raise GdeError(f"{where}: wanted an agent that asks its model once a turn, got {len(asked)} requests")
    return asked[0]


async def action_upon(context: Context, trajectory: Trajectory, turn: Turn, answer: Completion) -> str | None:
    """The action that the agent would have taken in a turn, had its model answered this; None for none."""
    return (await _shown(context, trajectory, turn, turn.observation, answer))[1]


async def _shown(
    context: Context, trajectory: Trajectory, turn: Turn, observation: Observation, answer: Completion | None
) -> tuple[list[ChatRequest], str | None]:
    """What it asks in the turn and the action that it takes, after the earlier turns as they were."""
    told = Told()
    agent = context.agent(trajectory, told.instead_of)
    for earlier in trajectory.turns[: turn.index]:
        told.answer = earlier.decision.completion
        await agent.act(earlier.observation)
    told.asked, told.answer = [], answer
    decision = await agent.act(observation)
    allowed = observation.actions is None or decision.action in observation.actions
    return told.asked, decision.action if allowed else None
