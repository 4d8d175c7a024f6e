"""Replay of a recorded turn with another observation or another answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gde.data.completion import ChatRequest, Completion, ModelInfo
from gde.data.observation import Observation
from gde.data.trajectory import Trajectory, Turn
from gde.errors import CannotReplay, GdeError
from gde.parts.context import Context
from gde.parts.language_model import LanguageModel, Retokenizer
from gde_plugins.probes.causes.cases import Case


class ReplayModel:
    """A language model that records its requests and returns the given answer."""

    def __init__(self) -> None:
        self.answer: Completion | None = None
        self.requests: list[ChatRequest] = []
        self._model: LanguageModel | None = None

    def instead_of(self, model: LanguageModel) -> "ReplayModel":
        """Take the place and the name of the agent's own model."""
        self._model = model
        return self

    @property
    def info(self) -> ModelInfo:
        assert self._model is not None
        return self._model.info

    async def complete(self, request: ChatRequest) -> Completion:
        """Record the request and return the given answer."""
        self.requests.append(request)
        assert self.answer is not None
        return self.answer

    def close(self) -> None:
        """Leave the agent's own model open: it belongs to the run."""


async def recorded_request(
    context: Context, trajectory: Trajectory, turn: Turn
) -> ChatRequest:
    """Rebuild the request that the agent made in a turn.

    Raises:
        GdeError: the agent makes another request than the recorded one, or not exactly
            one.
    """
    request = await request_for(context, trajectory, turn, turn.observation)
    completion = turn.decision.completion
    # A record identifies a request together with the name of the model that answered
    # it.
    if completion is None or request.asked_of(completion.model) != completion.request:
        raise GdeError(
            f"turn {turn.index} of episode {trajectory.key}: the agent no longer asks what it asked then"
        )
    return request


async def request_for(
    context: Context,
    trajectory: Trajectory,
    turn: Turn,
    observation: Observation,
) -> ChatRequest:
    """Build the agent's request in a turn, given another observation.

    Raises:
        GdeError: the agent makes no request, or more than one.
    """
    recorded = turn.decision.completion
    requests, _ = await _replay(context, trajectory, turn, observation, recorded)
    if len(requests) != 1:
        where = f"turn {turn.index} of episode {trajectory.key}"
        raise GdeError(
            f"{where}: wanted an agent that asks its model once a turn, got {len(requests)} requests"
        )
    return requests[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class AsInItsTurn:
    """Reads answers to a case as the agent would have read them in its turn."""

    context: Context
    turn_of: Mapping[str, tuple[Trajectory, Turn]]
    """Maps the identity of a case's request to its turn."""
    action_of: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """Maps the identities of a request and of the answered one to the action."""

    async def __call__(self, case: Case, answer: Completion) -> str | None:
        """Return the action; None for an unusable answer."""
        # Many changes leave an answer as it is, and reading it begins an agent anew.
        key = case.request.identity, answer.request
        if key not in self.action_of:
            trajectory, turn = self.turn_of[case.request.identity]
            self.action_of[key] = await action_for(
                self.context, trajectory, turn, answer
            )
        return self.action_of[key]


async def action_for(
    context: Context,
    trajectory: Trajectory,
    turn: Turn,
    answer: Completion,
) -> str | None:
    """Return the agent's action in a turn on another answer; None for none."""
    _, action = await _replay(context, trajectory, turn, turn.observation, answer)
    return action


def marked(turn: Turn, position: str, model: Any) -> Turn | None:
    """Return a turn with the tokens and this position of its answer; None if it lacks
    them.
    """
    completion = in_tokens(turn.decision.completion, model)
    if completion is None or position not in completion.positions:
        return None
    return replace(turn, decision=replace(turn.decision, completion=completion))


def in_tokens(completion: Completion | None, model: Any) -> Completion | None:
    """Return an answer with its tokens and positions, for one of a server those of this
    model; None if it cannot be replayed.
    """
    if completion is None or completion.positions:
        return completion
    if not isinstance(model, Retokenizer):
        return None
    try:
        return model.retokenize(completion)
    except CannotReplay:
        return None


async def check_tokens(
    request: ChatRequest, tokens: Sequence[int], model: LanguageModel
) -> None:
    """Refuse a model that reads a request as other tokens than it was answered as.

    Raises:
        GdeError: it does, so that answers here could not be compared with the recorded.
    """
    shortest = replace(request.sampling, max_tokens=1)
    here = await model.complete(replace(request, sampling=shortest))
    if here.prompt_tokens != tuple(tokens):
        raise GdeError(
            f"{model.info.name} writes a prompt of the run with other tokens than its server did;"
            " set the date of the weights and the agent's effort as they were there"
        )


async def _replay(
    context: Context,
    trajectory: Trajectory,
    turn: Turn,
    observation: Observation,
    answer: Completion | None,
) -> tuple[list[ChatRequest], str | None]:
    """Return the requests and the action of one turn, after the earlier turns as
    recorded.
    """
    model = ReplayModel()
    agent = context.agent(trajectory, model.instead_of)

    # An agent may have a memory, so it first lives through the earlier turns.
    for earlier in trajectory.turns[: turn.index]:
        model.answer = earlier.decision.completion
        await agent.act(earlier.observation)

    model.requests = []
    model.answer = answer
    decision = await agent.act(observation)

    # An action that the environment does not list could not have been taken.
    action = decision.action
    if observation.actions is not None and action not in observation.actions:
        action = None
    return model.requests, action
