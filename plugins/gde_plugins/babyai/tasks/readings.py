"""Answers as they are read: by the markers that the question asks for, as the published harness does.

Nothing is guessed. What cannot be used has one of the reasons below, is scored 0 and counted.
"""

import re
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from gde_plugins.babyai.oracle.subgoals import Subgoal, parse
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene

Reason = Literal["", "empty", "too_long", "no_marker", "malformed", "unknown_word", "outside_grid"]
REASONS: tuple[Reason, ...] = tuple(reason for reason in get_args(Reason) if reason)
LONGEST = 200_000
"""Characters of an answer that are read."""
DONE = "done"
"""An action of minigrid that does nothing; it may stand in a plan and counts as one of its actions."""
STATE_MARKER = "The agent's final state is:"
PLAN_MARKER = "The action sequence is:"
START, END = "<START>", "<END>"
STATE = re.compile(r"\(\s*\(\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*\)\s*,\s*(-?\d{1,9})\s*\)")
NUMBER = re.compile(r"-?\d{1,9}")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Reading(Generic[Value]):
    """What an answer says, or why it cannot be used."""

    value: Value | None
    reason: Reason = ""


Placed = tuple[tuple[int, int], int]
"""((x, y), direction)."""


def read_state(answer: str, scene: Scene) -> Reading[Placed]:
    """The state after the marker: the first ((x, y), direction), else the first three numbers."""
    text, reason = _after(answer, STATE_MARKER)
    if reason:
        return Reading(None, reason)
    found = STATE.search(text)
    numbers = list(found.groups()) if found else NUMBER.findall(text)[:3]
    if len(numbers) < 3:
        return Reading(None, "malformed")
    x, y, direction = map(int, numbers)
    if not (0 <= x < scene.width and 0 <= y < scene.height):
        return Reading(None, "outside_grid")
    return Reading(((x, y), direction)) if 0 <= direction < 4 else Reading(None, "malformed")


def read_plan(answer: str) -> Reading[tuple[str, ...]]:
    """The actions after the marker, separated by commas, up to the end of the line; one unknown word spoils them."""
    text, reason = _after(answer, PLAN_MARKER)
    if reason:
        return Reading(None, reason)
    line = text.strip().partition("\n")[0].strip().rstrip(".")
    words = [word.strip().lower() for word in line.split(",")]
    if not any(words):
        return Reading(None, "malformed")
    known = all(word in ACTIONS or word == DONE for word in words)
    return Reading(tuple(words)) if known else Reading(None, "unknown_word")


def read_subgoals(answer: str, scene: Scene) -> Reading[tuple[Subgoal, ...]]:
    """The subgoals between the marks, one a line; empty lines are left out."""
    text, reason = _after(answer, START)
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
        return Reading(None, "outside_grid" if "in a grid" in str(error) else "unknown_word")


def _after(answer: str, marker: str) -> tuple[str, Reason]:
    """What follows the first occurrence of a marker, in whatever case."""
    if not answer.strip():
        return "", "empty"
    if len(answer) > LONGEST:
        return "", "too_long"
    place = answer.lower().find(marker.lower())
    return (answer[place + len(marker) :], "") if place >= 0 else ("", "no_marker")
