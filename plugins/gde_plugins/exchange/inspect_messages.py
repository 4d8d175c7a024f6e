"""The messages of gde's turns as messages and events of Inspect."""

from collections.abc import Callable, Mapping, Sequence

from inspect_ai.event import ModelEvent
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentReasoning,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ModelUsage,
    StopReason,
)

from gde.data.completion import Completion, Finish, Message
from gde.data.trajectory import Trajectory, Turn
from gde.runs.conversations import received, sent

ROLES: Mapping[str, Callable[..., ChatMessage]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
REASONS: Mapping[Finish, StopReason] = {
    "stop": "stop",
    "length": "max_tokens",
    "refusal": "content_filter",
}
"""How Inspect calls the ends of answers."""
NOBODY = "gde"
"""The model of an action that no model has chosen."""


def chat(messages: Sequence[Message]) -> list[ChatMessage]:
    """Messages as Inspect's."""
    return [ROLES[each.role](content=each.content) for each in messages]


def conversation(turn: Turn) -> list[ChatMessage]:
    """The prompt of a turn as it was sent, and the answer."""
    return [*chat(sent(turn)), _answer(turn)]


def output(turn: Turn) -> ModelOutput:
    """The answer of a turn, with its reasoning and tokens."""
    completion = turn.decision.completion
    if completion is None:
        return ModelOutput.from_content(NOBODY, received(turn).content)
    choice = ChatCompletionChoice(
        message=_answer(turn), stop_reason=REASONS[completion.finish]
    )
    return ModelOutput(
        model=completion.answered_by or completion.model,
        choices=[choice],
        usage=_usage(completion),
        time=completion.seconds,
    )


def events(trajectory: Trajectory) -> list[ModelEvent]:
    """A call for each turn that a model decided, as it was sent and received."""
    found = []
    for turn in trajectory.turns:
        completion = turn.decision.completion
        if completion is not None:
            event = ModelEvent(
                model=completion.model,
                input=chat(sent(turn)),
                tools=[],
                tool_choice="none",
                config=GenerateConfig(),
                output=output(turn),
            )
            found.append(event)
    return found


def _answer(turn: Turn) -> ChatMessageAssistant:
    completion = turn.decision.completion
    text = received(turn).content
    if completion is None or completion.reasoning is None:
        return ChatMessageAssistant(content=text)
    parts: list[Content] = [
        ContentReasoning(reasoning=completion.reasoning),
        ContentText(text=text),
    ]
    return ChatMessageAssistant(content=parts)


def _usage(completion: Completion) -> ModelUsage | None:
    n_prompt, n_answer = completion.n_prompt, completion.n_completion
    if n_prompt is None or n_answer is None:
        return None
    return ModelUsage(
        input_tokens=n_prompt, output_tokens=n_answer, total_tokens=n_prompt + n_answer
    )
