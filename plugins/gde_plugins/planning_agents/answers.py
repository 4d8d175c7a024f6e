"""From what the model said to actions, or to what it is told is wrong. Never guesses."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.completion import Completion
from gde.data.trajectory import Status

ONE = re.compile(r"\AThought:(?P<thought>.*?)^Action:[ \t]*(?P<action>.*)\Z", re.DOTALL | re.MULTILINE)
SEVERAL = re.compile(r"\AThought:.*?(?P<actions>(?:^Action(?: \d+)?:[ \t]*[^\n]+\s*)+)\Z", re.DOTALL | re.MULTILINE)
ACTION = re.compile(r"^Action(?: \d+)?:[ \t]*([^\n]+)$", re.MULTILINE)
LABEL = re.compile(r"^(?:Thought|Action|Observation)(?: \d+)?:", re.MULTILINE)
SHOWN = 80
FORM = "Thought: your reasoning\nAction: the action"


@dataclass(frozen=True)
class Rejected:
    """An answer that cannot be used."""

    status: Status
    detail: str
    """What was wanted and what came, for the record."""
    feedback: str
    """The same for the model."""


def one_action(completion: Completion, actions: Sequence[str] | None) -> str | Rejected:
    """The action of an answer of a thought and an action.

    Args:
        completion: what the model said.
        actions: the admissible actions; None where any text may be tried, of several lines too.
    """
    text = completion.text.strip()
    found = ONE.match(text)
    action = found["action"].strip() if found else ""
    if not action or LABEL.search(action) or (actions is not None and "\n" in action):
        return _malformed(completion, FORM)
    return admitted(action, actions)


def several_actions(
    completion: Completion, actions: Sequence[str] | None, most: int
) -> tuple[tuple[str, ...], int] | Rejected:
    """The distinct admissible actions of an answer of a thought and some actions, and how many others it has."""
    found = SEVERAL.match(completion.text.strip())
    if not found:
        return _malformed(completion, "Thought: your reasoning\nAction 1: the best action\nAction 2: the next best")
    read = [admitted(action.strip(), actions) for action in ACTION.findall(found["actions"])]
    good = dict.fromkeys(each for each in read if isinstance(each, str))
    bad = [each for each in read if isinstance(each, Rejected)]
    return (tuple(good)[:most], len(bad)) if good else bad[0]


def ended(text: str) -> str:
    """An answer up to the end of the first lines that name actions; all of it where none does."""
    lines = text.strip().split("\n")
    named = [ACTION.match(line) is not None for line in lines]
    first = named.index(True) if any(named) else len(lines)
    last = named.index(False, first) if False in named[first:] else len(lines)
    return "\n".join(lines[:last])


def admitted(action: str, actions: Sequence[str] | None) -> str | Rejected:
    """The admissible action that is meant, letter case aside."""
    if actions is None:
        return action if _writable(action) else Rejected("invalid_action", "wanted a text", "That is no text.")
    folded = action.casefold()
    meant = next((each for each in actions if each.casefold() == folded), None)
    if meant is not None:
        return meant
    detail = f"wanted one of {', '.join(actions)}; got {_short(action)}"
    return Rejected(
        "invalid_action", detail, f"{_short(action)} cannot be done here. Choose one of the listed actions."
    )


def _malformed(completion: Completion, form: str) -> Rejected:
    text = completion.text.strip()
    feedback = f"Invalid format. Answer in exactly this form and with nothing else:\n{form}"
    if completion.finish == "refusal":
        return Rejected("refusal", f"the model refused: {_short(text)}", feedback)
    if completion.finish == "length":
        return Rejected("truncated", f"the answer was cut off: {_short(text)}", feedback)
    if not text:
        return Rejected("empty", "the model ended without an answer", feedback)
    wanted = " / ".join(form.splitlines())
    return Rejected("unparsable", f"wanted {wanted!r}, got {_short(text)}", feedback)


def _writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # halves of characters, which no journal can hold
        return False
    return True


def _short(text: str) -> str:
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}... ({len(text)} characters)"
