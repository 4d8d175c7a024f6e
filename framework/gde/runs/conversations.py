"""The conversations of an episode, as they were sent and received."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gde.data.completion import Message
from gde.data.trajectory import Trajectory, Turn

Sent = tuple[Message, ...]


def sent(turn: Turn) -> Sent:
    """The messages that the model was sent, rules and earlier turns included.

    An agent without a language model is only shown its observation.
    """
    completion = turn.decision.completion
    if completion is not None and completion.prompt:
        return completion.prompt
    return (Message(role="user", content=turn.observation.text),)


def received(turn: Turn) -> Message:
    """The model's answer; without a model the action stands for it."""
    completion = turn.decision.completion
    said = turn.decision.action or "" if completion is None else completion.text
    return Message(role="assistant", content=said)


def conversations(trajectory: Trajectory) -> list[Turn]:
    """The last turns of the conversations that an episode consists of.

    A turn belongs to the conversation of the next one only if that was sent the turn's
    prompt and answer. Every turn of an agent without memory is a conversation of its
    own.
    """
    last = []
    for turn, following in pairwise([*trajectory.turns, None]):
        assert turn is not None
        held = (*sent(turn), received(turn))
        if following is None or sent(following)[: len(held)] != held:
            last.append(turn)
    return last


def plain(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages as the values of JSON."""
    return [{"role": each.role, "content": each.content} for each in messages]


def plain_answer(turn: Turn) -> Mapping[str, Any]:
    """The answer of a turn as the values of JSON, with its reasoning if it has any."""
    completion = turn.decision.completion
    (answer,) = plain([received(turn)])
    if completion is not None and completion.reasoning is not None:
        answer["reasoning"] = completion.reasoning
    return answer
