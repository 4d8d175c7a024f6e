"""Reads actions from a model's answer, or explains to the model why it cannot.

Nothing is guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.completion import Completion
from gde.data.trajectory import Status

ONE = re.compile(
    r"\AThought:(?P<thought>.*?)^Action:[ \t]*(?P<action>.*)\Z",
    re.DOTALL | re.MULTILINE,
)
SEVERAL = re.compile(
    r"\AThought:.*?(?P<actions>(?:^Action(?: \d+)?:[ \t]*[^\n]+\s*)+)\Z",
    re.DOTALL | re.MULTILINE,
)
ACTION = re.compile(r"^Action(?: \d+)?:[ \t]*([^\n]+)$", re.MULTILINE)
ENDED = re.compile(
    r"\A.*?^Action(?: \d+)?:[ \t]*[^\n]+(?:\nAction(?: \d+)?:[ \t]*[^\n]+)*$",
    re.DOTALL | re.MULTILINE,
)
LABEL = re.compile(r"^(?:Thought|Action|Observation)(?: \d+)?:", re.MULTILINE)
SHOWN = 80
"""Maximum number of characters of a model's text in messages."""
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


def one_action(completion: Completion, actions: Sequence[str] | None) -> str | Rejected:
    """Return the action of an answer that has a thought and one action.

    Args:
        completion: what the model said. actions: the admissible actions; None where any
        text may be tried, also one of several lines.
    """
    found = ONE.match(completion.text.strip())
    action = found["action"].strip() if found else ""
    several_lines = actions is not None and "\n" in action
    if not action or several_lines or LABEL.search(action):
        return _malformed(completion, FORM)
    return admitted(action, actions)


def several_actions(
    completion: Completion, actions: Sequence[str] | None, most: int
) -> tuple[tuple[str, ...], int] | Rejected:
    """Return the distinct admissible actions of an answer with a thought and actions.

    Returns:
        The first `most` actions and the number of inadmissible ones, or why there is no
        action.
    """
    found = SEVERAL.match(completion.text.strip())
    if not found:
        return _malformed(completion, FORM_OF_SEVERAL)

    good: list[str] = []
    bad: list[Rejected] = []
    for text in ACTION.findall(found["actions"]):
        action = admitted(text.strip(), actions)
        if isinstance(action, Rejected):
            bad.append(action)
        elif action not in good:
            good.append(action)
    return (tuple(good[:most]), len(bad)) if good else bad[0]


def ended(text: str) -> str:
    """Return the answer up to the end of its first lines with actions, or all of it."""
    found = ENDED.match(text.strip())
    return found[0] if found else text.strip()


def admitted(action: str, actions: Sequence[str] | None) -> str | Rejected:
    """Return the admissible action that is meant, whatever its letter case."""
    if actions is None:
        if _writable(action):
            return action
        return Rejected("invalid_action", "wanted a text", "That is no text.")
    for each in actions:
        if each.casefold() == action.casefold():
            return each
    detail = f"wanted one of {', '.join(actions)}; got {_short(action)}"
    feedback = (
        f"{_short(action)} cannot be done here. Choose one of the listed actions."
    )
    return Rejected("invalid_action", detail, feedback)


def _malformed(completion: Completion, form: str) -> Rejected:
    text = completion.text.strip()
    feedback = (
        f"Invalid format. Answer in exactly this form and with nothing else:\n{form}"
    )
    if completion.finish == "refusal":
        return Rejected("refusal", f"the model refused: {_short(text)}", feedback)
    if completion.finish == "length":
        return Rejected(
            "truncated", f"the answer was cut off: {_short(text)}", feedback
        )
    if not text:
        return Rejected("empty", "the model ended without an answer", feedback)
    wanted = " / ".join(form.splitlines())
    return Rejected("unparsable", f"wanted {wanted!r}, got {_short(text)}", feedback)


def _writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # lone surrogates, which no journal can store
        return False
    return True


def _short(text: str) -> str:
    if len(text) <= SHOWN:
        return repr(text)
    return f"{text[:SHOWN]!r}... ({len(text)} characters)"
