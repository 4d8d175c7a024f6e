"""Two ways to read an answer: leniently, and as the published harness does.

The lenient reading counts in every headline. It takes what the answer concludes, in
whatever words (`stated`, `planned`, `decomposed`), and guesses nothing. The published
one has the faults of the released harness: it takes the first marker, and drops unknown
words from plans.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from gde_plugins.babyai.oracle.subgoals import Subgoal, parse
from gde_plugins.babyai.tasks.decomposed import Step, read_decomposed
from gde_plugins.babyai.tasks.planned import read_planned
from gde_plugins.babyai.tasks.stated import AgentState, read_stated
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene

Way = Literal["lenient", "published"]
WAYS: tuple[Way, ...] = get_args(Way)
Reason = Literal["", "empty", "too_long", "unread", "outside_grid"]
"""Why an answer is unusable: it is empty, longer than `LONGEST`, says nothing that can be
read, or more than one thing, or names a place outside the grid.
"""
REASONS: tuple[Reason, ...] = tuple(reason for reason in get_args(Reason) if reason)
LONGEST = 200_000
"""Maximum number of characters of a parsed answer."""
DONE = "done"
"""minigrid's action without effect; it may stand in a plan and counts as one of its
actions.
"""
WORDS = (*ACTIONS, DONE)
STATE_MARKER = "The agent's final state is:"
PLAN_MARKER = "The LLM's action sequence is:"
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


def read_state(answer: str, scene: Scene, way: Way = "lenient") -> Reading[AgentState]:
    """Read the state that an answer concludes with.

    As published, it is the first ((x, y), direction) after the first marker, else the
    first three numbers, which need not lie in the grid.
    """
    if reason := _unreadable(answer):
        return Reading(None, reason)
    state = read_stated(answer) if way == "lenient" else _marked_state(answer)
    if state is None:
        return Reading(None, "unread")
    (x, y), direction = state
    if way != "published":
        if not (0 <= x < scene.width and 0 <= y < scene.height):
            return Reading(None, "outside_grid")
        if not 0 <= direction < 4:
            return Reading(None, "unread")
    return Reading(state)


def _marked_state(answer: str) -> AgentState | None:
    text = _after(STATE_MARKER, answer) or ""
    found = STATE.search(text)
    numbers = found.groups() if found else NUMBER.findall(text)[:3]
    if len(numbers) < 3:
        return None
    x, y, direction = map(int, numbers)
    return (x, y), direction


def read_plan(answer: str, way: Way = "lenient") -> Reading[tuple[str, ...]]:
    """Read the actions that an answer plans.

    As published, they stand after the marker, separated by commas.
    """
    if reason := _unreadable(answer):
        return Reading(None, reason)
    if way == "lenient":
        plan = read_planned(answer)
        return Reading(plan, "" if plan else "unread")

    text = _after(PLAN_MARKER, answer)
    if text is None:
        return Reading(None, "unread")
    words = [word.strip().lower() for word in text.split(",")]
    return Reading(tuple(word for word in words if word in WORDS))


def read_subgoals(
    answer: str, scene: Scene, way: Way = "lenient"
) -> Reading[tuple[Subgoal, ...]]:
    """Read the subgoals that an answer names.

    As published, they stand between the markers, one a line and none empty; an answer
    without an end loses its last character.
    """
    if reason := _unreadable(answer):
        return Reading(None, reason)
    if way == "lenient":
        lines = [*_lines(read_decomposed(answer) or ())]
    else:
        lines = (_between(answer) or "").splitlines()
    if not lines:
        return Reading(None, "unread")
    try:
        return Reading(tuple(parse(line, scene) for line in lines))
    except ValueError as error:
        return Reading(None, "outside_grid" if "in a grid" in str(error) else "unread")


def _lines(steps: Iterable[Step]) -> Iterator[str]:
    """The subgoals as the question writes them.

    A place that another one names again is the one just gone to, or makes it none.
    """
    gone = None
    for name, place in steps:
        if name == "GoNextTo":
            gone = place
        is_said = name == "GoNextTo" or place != gone
        yield f"({name}Subgoal, {place})" if place and is_said else f"({name}Subgoal)"


def _unreadable(answer: str) -> Reason:
    if not answer.strip():
        return "empty"
    return "too_long" if len(answer) > LONGEST else ""


def _after(marker: str, answer: str) -> str | None:
    """The text after the first marker."""
    place = answer.lower().find(f"{marker} ".lower())
    return answer[place + len(marker) + 1 :].strip() if place >= 0 else None


def _between(answer: str) -> str | None:
    """The text between the markers of a list of subgoals."""
    small = answer.lower()
    start = small.find(f"{START}\n".lower())
    end = small.find(f"\n{END}".lower())
    return answer[start + len(START) + 1 : end].strip() if start >= 0 else None
