"""Parsers of answers, which look for the markers of the questions.

The published harness does so too. Nothing is guessed. An unusable answer has one of the
reasons below; it is scored 0 and counted.

Nothing is guessed. An answer that cannot be used has one of the reasons below; it is
scored 0 and counted.
"""

import re
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from gde_plugins.babyai.oracle.subgoals import Subgoal, parse
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene

Reason = Literal[
    "", "empty", "too_long", "no_marker", "malformed", "unknown_word", "outside_grid"
]
REASONS: tuple[Reason, ...] = tuple(reason for reason in get_args(Reason) if reason)
LONGEST = 200_000
"""Maximum number of characters of a parsed answer."""
DONE = "done"
"""minigrid's action without effect; it may stand in a plan and counts as one of its
actions.
"""
STATE_MARKER = "The agent's final state is:"
PLAN_MARKER = "The action sequence is:"
START, END = "<START>", "<END>"
STATE = re.compile(
    r"\(\s*\(\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*\)\s*,\s*(-?\d{1,9})\s*\)"
)
NUMBER = re.compile(r"-?\d{1,9}")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Reading(Generic[Value]):
    """The content of an answer, or the reason why it is unusable."""

    value: Value | None
    reason: Reason = ""


AgentState = tuple[tuple[int, int], int]
"""((x, y), direction)."""


def read_state(answer: str, scene: Scene) -> Reading[AgentState]:
    """Parse the state after the marker.

    It is the first ((x, y), direction), else the first three numbers.
    """
    text, reason = _after_marker(answer, STATE_MARKER)
    if reason:
        return Reading(None, reason)

    found = STATE.search(text)
    numbers = list(found.groups()) if found else NUMBER.findall(text)[:3]
    if len(numbers) < 3:
        return Reading(None, "malformed")
    x, y, direction = map(int, numbers)
    if not (0 <= x < scene.width and 0 <= y < scene.height):
        return Reading(None, "outside_grid")
    if not 0 <= direction < 4:
        return Reading(None, "malformed")
    return Reading(((x, y), direction))


def read_plan(answer: str) -> Reading[tuple[str, ...]]:
    """Parse the actions after the marker, separated by commas, up to the end of the
    line.
    """
    text, reason = _after_marker(answer, PLAN_MARKER)
    if reason:
        return Reading(None, reason)

    line = text.strip().partition("\n")[0].strip().rstrip(".")
    words = [word.strip().lower() for word in line.split(",")]
    if not any(words):
        return Reading(None, "malformed")
    for word in words:
        if word not in ACTIONS and word != DONE:
            return Reading(None, "unknown_word")
    return Reading(tuple(words))


def read_subgoals(answer: str, scene: Scene) -> Reading[tuple[Subgoal, ...]]:
    """Parse the subgoals between the markers, one a line; empty lines are skipped."""
    text, reason = _after_marker(answer, START)
    if reason:
        return Reading(None, reason)

    end = text.lower().find(END.lower())
    if end < 0:
        return Reading(None, "no_marker")
    lines = [line for line in text[:end].splitlines() if line.strip()]
    if not lines:
        return Reading(None, "malformed")
    try:
        return Reading(tuple(parse(line, scene) for line in lines))
    except ValueError as error:
        return Reading(
            None, "outside_grid" if "in a grid" in str(error) else "unknown_word"
        )


def _after_marker(answer: str, marker: str) -> tuple[str, Reason]:
    """Return the text after the first occurrence of a marker, in any case."""
    if not answer.strip():
        return "", "empty"
    if len(answer) > LONGEST:
        return "", "too_long"
    place = answer.lower().find(marker.lower())
    if place < 0:
        return "", "no_marker"
    return answer[place + len(marker) :], ""
