"""Reads actions from a model's answer, or explains to the model why it cannot.

Nothing is guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.answer import (
    Reading,
    quoted,
    read_answer,
    read_freely,
    read_name,
    read_silence,
)
from gde.data.answer_rules import markers
from gde.data.completion import Completion
from gde.data.trajectory import Status

SEVERAL = re.compile(
    r"\AThought:.*?(?P<actions>(?:^Action(?: \d+)?:[ \t]*[^\n]+\s*)+)\Z",
    re.DOTALL | re.MULTILINE,
)
ACTION = re.compile(r"^Action(?: \d+)?:[ \t]*([^\n]+)$", re.MULTILINE)
ENDED = re.compile(
    r"\A.*?^Action(?: \d+)?:[ \t]*[^\n]+(?:\nAction(?: \d+)?:[ \t]*[^\n]+)*$",
    re.DOTALL | re.MULTILINE,
)
FORM = "Thought: your reasoning\nAction: the action"
FORM_OF_SEVERAL = (
    "Thought: your reasoning\nAction 1: the best action\nAction 2: the next best"
)


@dataclass(frozen=True)
class Rejected:
    """An unusable answer."""

    status: Status
    detail: str
    """The problem, for the record."""
    feedback: str
    """The problem, for the model."""


def one_action(
    completion: Completion, actions: Sequence[str] | None, *, strict: bool = False
) -> Reading | Rejected:
    """Return the action of an answer that has a thought and one action.

    Args:
        completion: what the model said.
        actions: the admissible actions; None where any text may be tried, also one of
            several lines.
        strict: whether to take only an answer of exactly this form.
    """
    reading = read_answer(completion, actions, "thought", strict=strict)
    return reading if reading.action is not None else _rejected(reading, FORM)


def several_actions(
    completion: Completion,
    actions: Sequence[str] | None,
    most: int,
    *,
    strict: bool = False,
) -> tuple[tuple[str, ...], int] | Rejected:
    """Return the distinct admissible actions of an answer with a thought and actions.

    Returns:
        The first `most` actions and the number of inadmissible ones, or why there is no
        action.
    """
    if nothing := read_silence(completion):
        return _rejected(nothing, FORM_OF_SEVERAL)
    text = completion.text.strip()
    found = SEVERAL.match(text)
    texts: list[str] = ACTION.findall(found["actions"]) if found else []
    if not found and not strict:
        texts = [marked.text for marked in markers(text)]
    if completion.finish == "length":
        # The last one may lack its end.
        texts = texts[:-1]
    if not texts:
        form = " / ".join(FORM_OF_SEVERAL.splitlines())
        reason = f"wanted {form!r}, got {quoted(text)}"
        unread = read_freely(completion, actions, reason, rules=())
        return _rejected(unread, FORM_OF_SEVERAL)

    good: list[str] = []
    bad: list[Reading] = []
    for each in texts:
        reading = read_name(each, actions, strict=strict)
        if reading.action is None:
            bad.append(reading)
        elif reading.action not in good:
            good.append(reading.action)
    if not good:
        return _rejected(bad[0], FORM_OF_SEVERAL)
    return tuple(good[:most]), len(bad)


def ended(text: str) -> str:
    """Return the answer up to the end of its first lines with actions, or all of it."""
    found = ENDED.match(text.strip())
    return found[0] if found else text.strip()


def _rejected(reading: Reading, form: str) -> Rejected:
    feedback = (
        f"Invalid format. Answer in exactly this form and with nothing else:\n{form}"
    )
    if reading.status == "invalid_action":
        named = quoted(reading.named)
        feedback = f"{named} cannot be done here. Choose one of the listed actions."
    return Rejected(reading.status, reading.reason, feedback)
