"""Three ways to read an answer: leniently, strictly, and as the published harness does.

The lenient reading counts in every headline. It takes the last answer of the form asked
for, whatever surrounds it, and guesses nothing. The strict one takes only an answer
that ends in exactly that form. The published one has the faults of the released
harness: it takes the first marker, and drops unknown words from plans.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

from gde_plugins.babyai.oracle.subgoals import Subgoal, parse
from gde_plugins.babyai.worlds.scene import ACTIONS, Scene

Way = Literal["lenient", "strict", "published"]
WAYS: tuple[Way, ...] = get_args(Way)
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
WORDS = (*ACTIONS, DONE)
STATE_MARKER = "The agent's final state is:"
PLAN_MARKER = "The LLM's action sequence is:"
START, END = "<START>", "<END>"
STATE = re.compile(
    r"\(\s*\(\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*\)\s*,\s*(-?\d{1,9})\s*\)"
)
NUMBER = re.compile(r"-?\d{1,9}")
DECORATION = re.compile(r"^\s*```\w*\s*$|[*`]+|^\s*#+\s", re.MULTILINE)
"""Bold, italics, code and headings of Markdown."""
THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL)
ITEM = re.compile(r"^\s*(?:\d+[.):]\s+|[-\u2022]\s+)?(.*?)[\s,;.]*$")
"""A line of a list, without its number or bullet and the punctuation at its end."""
Value = TypeVar("Value")


@dataclass(frozen=True)
class Reading(Generic[Value]):
    """The content of an answer, or the reason why it is unusable."""

    value: Value | None
    reason: Reason = ""


AgentState = tuple[tuple[int, int], int]
"""((x, y), direction)."""


def read_state(answer: str, scene: Scene, way: Way = "lenient") -> Reading[AgentState]:
    """Parse the state after the marker.

    It is the first ((x, y), direction) after it, else the first three numbers. The
    strict way takes only a last line of marker and state.
    """
    text, reason = _after(STATE_MARKER, answer, way)
    if reason:
        return Reading(None, reason)

    found = STATE.fullmatch(text) if way == "strict" else STATE.search(text)
    numbers = list(found.groups()) if found else []
    if not found and way != "strict":
        numbers = NUMBER.findall(text)[:3]
    if len(numbers) < 3:
        return Reading(None, "malformed")
    x, y, direction = map(int, numbers)
    # The published harness compares any three numbers with the solution.
    if way != "published":
        if not (0 <= x < scene.width and 0 <= y < scene.height):
            return Reading(None, "outside_grid")
        if not 0 <= direction < 4:
            return Reading(None, "malformed")
    return Reading(((x, y), direction))


def read_plan(answer: str, way: Way = "lenient") -> Reading[tuple[str, ...]]:
    """Parse the actions after the marker.

    Leniently, they stand on one line or on several, separated by commas, as a numbered
    or an unnumbered list. The first line without an action ends them; an unknown word
    among them makes the plan unusable.
    """
    text, reason = _after(PLAN_MARKER, answer, way)
    if reason:
        return Reading(None, reason)

    if way == "published":
        words = [word.strip().lower() for word in text.split(",")]
        return Reading(tuple(word for word in words if word in WORDS))
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return Reading(None, "malformed")
    if way == "strict":
        return _plan([word.strip() for word in text.split(",")])

    plan: list[str] = []
    for line in lines:
        words = _words(line)
        known = [word for word in words if word in WORDS]
        if plan and not known:
            break
        if len(known) < len(words):
            # Prose after the plan may name an action.
            return Reading(tuple(plan)) if plan else Reading(None, "unknown_word")
        plan += words
    return _plan(plan)


def _words(line: str) -> list[str]:
    found = ITEM.match(line)
    inside = found[1].strip("[]() \"'") if found else ""
    return [word.strip(" \"'").lower() for word in inside.split(",") if word.strip()]


def _plan(words: Sequence[str]) -> Reading[tuple[str, ...]]:
    if not any(words):
        return Reading(None, "malformed")
    for word in words:
        if word not in WORDS:
            return Reading(None, "unknown_word")
    return Reading(tuple(words))


def read_subgoals(
    answer: str, scene: Scene, way: Way = "lenient"
) -> Reading[tuple[Subgoal, ...]]:
    """Parse the subgoals between the markers, one a line; empty lines are skipped.

    Leniently, a line may have a number, a bullet or a comma. The published way takes no
    empty line, and drops the last character of an answer without an end.
    """
    text, reason = _between(answer, way)
    if reason:
        return Reading(None, reason)

    lines = text.splitlines()
    if way == "lenient":
        items = [ITEM.match(line) for line in lines]
        lines = [found[1] for found in items if found]
    if way != "published":
        lines = [line for line in lines if line.strip()]
    if not lines:
        return Reading(None, "malformed")
    try:
        return Reading(tuple(parse(line, scene) for line in lines))
    except ValueError as error:
        outside = "in a grid" in str(error)
        return Reading(None, "outside_grid" if outside else "unknown_word")


def _after(marker: str, answer: str, way: Way) -> tuple[str, Reason]:
    """Return the text after the first marker as published, else after the last."""
    text, reason = _usable(answer, way)
    if reason:
        return "", reason
    if way == "published":
        place = text.lower().find(f"{marker} ".lower())
        return (
            (text[place + len(marker) + 1 :].strip(), "") if place >= 0 else NO_MARKER
        )
    if way == "strict":
        last = text.strip().splitlines()[-1]
        if not last.startswith(f"{marker} "):
            return NO_MARKER
        return last[len(marker) :].strip(), ""

    # Models write "the action sequence is" and "the final state" as well.
    pattern = re.escape(marker.rstrip(":")).replace("LLM's\\ ", "(?:(?:LLM|agent)'s )?")
    found = [*re.finditer(rf"{pattern}\s*:?", text, re.IGNORECASE)]
    return (text[found[-1].end() :].strip(), "") if found else NO_MARKER


NO_MARKER: tuple[str, Reason] = ("", "no_marker")


def _between(answer: str, way: Way) -> tuple[str, Reason]:
    """Return the text between the markers of a list of subgoals."""
    text, reason = _usable(answer, way)
    if reason:
        return "", reason
    if way == "published":
        small = text.lower()
        start = small.find(f"{START}\n".lower())
        end = small.find(f"\n{END}".lower())
        inside = text[start + len(START) + 1 : end].strip()
        return (inside, "") if start >= 0 else NO_MARKER
    if way == "strict":
        found = re.search(rf"{START}\n((?:(?!{START}).)*)\n{END}\Z", text.strip(), re.S)
        return (found[1], "") if found else NO_MARKER

    starts = [*re.finditer(START, text, re.IGNORECASE)]
    if not starts:
        return NO_MARKER
    rest = text[starts[-1].end() :]
    closing = re.search(END, rest, re.IGNORECASE)
    return (rest[: closing.start()], "") if closing else NO_MARKER


def _usable(answer: str, way: Way) -> tuple[str, Reason]:
    """Return the text to look at; leniently, without thoughts and decoration."""
    if not answer.strip():
        return "", "empty"
    if len(answer) > LONGEST:
        return "", "too_long"
    if way != "lenient":
        return answer, ""
    spoken = THOUGHTS.sub("", answer).rpartition("</think>")[2]
    return DECORATION.sub("", spoken.replace("\u2019", "'")), ""
