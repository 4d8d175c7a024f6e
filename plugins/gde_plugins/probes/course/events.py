"""Events: tokens of an answer at which something is said for the first time.

A regular expression for each event tells the form in which a model says it. The event is
at the last token of what its group matches first, or all of the pattern. Two need none: the
last token of the prompt, and the last one of the template after the reasoning.

Nothing is guessed: a turn without an event has a reason instead.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gde.data.completion import Completion, Tokenization

# Configurations import this module, and commands them: they wait for no NumPy.
if TYPE_CHECKING:
    from gde.data.activations import TokenSequence
    from gde.parts.probe import Tokenize

EVENTS = ("before", "agent", "goal", "move", "last", "after")
"""In their order: before the reasoning, the first mention of agent, goal and move, the last
step of a path, and after the reasoning.
"""
PREFIX = "course-"
"""Before the name of an event in that of its position."""
FORMS: Mapping[str, str] = {
    "agent": r"\bA (\d+,\d+)",
    "goal": r"\bG (\d+,\d+)",
    "move": r"\bpath \d+,\d+ (\d+,\d+)",
    "last": r"\bpath \d+,\d+ \d+,\d+(?: (\d+,\d+))+",
    "after": "",
}
"""The patterns of nano's form."""
TRUNCATED = "the text is truncated"
NOT_SAID = "its pattern is not in the text"
NO_PATTERN = "it has no pattern"
NO_PROMPT = "the prompt has no marked tokens"
OTHER_TOKENS = "the text is written in other tokens than it would be split into"
GOES_ON = "its last token goes on after it"


@dataclass(frozen=True, kw_only=True)
class Found:
    """The events of one answer."""

    tokens: Mapping[str, int] = field(default_factory=dict)
    """Event to the index of its token in prompt and completion."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Event to what is said there; those of the template say nothing."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the other events are missing."""
    repeated: Sequence[str] = ()
    """Events whose pattern is in the text again; the first match counts."""

    @property
    def positions(self) -> Mapping[str, tuple[int, ...]]:
        """The events as named positions."""
        return {PREFIX + event: (token,) for event, token in self.tokens.items()}


def find_events(
    completion: Completion,
    sequence: "TokenSequence",
    patterns: Mapping[str, str],
    tokenize: "Tokenize",
) -> Found:
    """Find the events of an answer in its tokens.

    Args:
        completion: the answer. Its reasoning is searched; without any, its text.
        sequence: its tokens, perhaps as replayed.
        patterns: the form of each event but the first; the one of `after` is for models
            without a template that closes their reasoning.
        tokenize: splits a text as the model does.
    """
    pre = sequence.positions.get("pre")
    if not pre:
        return Found(reasons=dict.fromkeys(EVENTS, NO_PROMPT))
    tokens = {"before": pre[-1]}
    if completion.finish != "stop":
        return Found(tokens=tokens, reasons=dict.fromkeys(EVENTS[1:], TRUNCATED))

    text = completion.reasoning or completion.text
    post = sequence.positions.get("post")
    if post:
        tokens["after"] = post[-1]
        matches = {}
    else:
        matches = {"after": _matches(patterns["after"], text)}
    # What a model says after its reasoning is its answer.
    ends = [match.start() for match in matches.get("after", [])]
    reasoning = text[: ends[0]] if ends else text
    for event in EVENTS[1:-1]:
        matches[event] = _matches(patterns[event], reasoning)

    split = tokenize(text)
    start = _start(split.ids, sequence.tokens, pre[-1] + 1)
    said = {}
    reasons = {}
    for event, several in matches.items():
        if not several:
            reasons[event] = NOT_SAID if patterns[event] else NO_PATTERN
            continue
        first = several[0]
        group = first.lastindex or 0
        index = _last_token(split, first.end(group))
        # At the ends of a text, templates may join a token with what is beside it.
        if start is None or sequence.tokens[start + index] != split.ids[index]:
            reasons[event] = OTHER_TOKENS
        elif split.spans[index][1] > first.end(group):
            reasons[event] = GOES_ON
        else:
            tokens[event] = start + index
            said[event] = first[group]
    return Found(
        tokens={event: tokens[event] for event in EVENTS if event in tokens},
        said=said,
        reasons=reasons,
        repeated=[event for event in said if len(matches[event]) > 1],
    )


def _matches(pattern: str, text: str) -> list[re.Match[str]]:
    """Where a pattern says something."""
    found = re.finditer(pattern, text)
    return [match for match in found if match[match.lastindex or 0]]


def _start(ids: Sequence[int], tokens: Sequence[int], begin: int) -> int | None:
    """Where a text's ids stand among the tokens from `begin` on, but for its first and
    last one; None unless they stand there once.
    """
    edge = 1 if len(ids) > 2 else 0
    inner = tuple(ids[edge : len(ids) - edge])
    last = len(tokens) - len(ids) + edge
    starts = [
        place - edge
        for place in range(begin + edge, last + 1)
        if tuple(tokens[place : place + len(inner)]) == inner
    ]
    return starts[0] if len(starts) == 1 else None


def _last_token(split: Tokenization, end: int) -> int:
    """The token with the last character before `end`."""
    return next(i for i, (_, stop) in enumerate(split.spans) if stop >= end)
