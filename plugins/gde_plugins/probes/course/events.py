"""Events: tokens of an answer at which something is said for the first time.

A regular expression tells the form of what a model writes before its answer. Each of its
named groups is an event, at the last token of what the group matches. Two more need no
pattern: the last token of the prompt, and the last one of the template after the reasoning.

Nothing is guessed: a turn without an event has a reason instead.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gde.data.completion import Completion, Tokenization

# Configurations import this module, and commands them: they wait for no NumPy.
if TYPE_CHECKING:
    from gde.data.activations import TokenSequence

Tokenize = Callable[[str], Tokenization]
"""As `gde.parts.language_model.WhiteBox.tokenize`."""
EVENTS = ("before", "agent", "goal", "move", "last", "after")
"""In their order: before the reasoning, the first mention of agent, goal and move, the last
step of a path, and after the reasoning.
"""
PREFIX = "course-"
"""Before the name of an event in that of its position."""
TRUNCATED = "the text is truncated"
TWICE = "the form is in the text more than once"
NO_FORM = "the form is not in the text"
NOT_SAID = "the text does not say it"
NO_TEMPLATE = "no tokens of a template follow the reasoning"
NO_PROMPT = "the prompt has no marked tokens"
OTHER_TOKENS = "the text is written in other tokens than it would be split into"


@dataclass(frozen=True, kw_only=True)
class Found:
    """The events of one answer."""

    tokens: Mapping[str, int] = field(default_factory=dict)
    """Event to the index of its token in prompt and completion."""
    said: Mapping[str, str] = field(default_factory=dict)
    """Event to what is said there; those of the template say nothing."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why the other events are missing."""

    @property
    def positions(self) -> Mapping[str, tuple[int, ...]]:
        """The events as named positions."""
        return {PREFIX + event: (token,) for event, token in self.tokens.items()}


def find_events(
    completion: Completion,
    sequence: "TokenSequence",
    pattern: str,
    tokenize: Tokenize,
) -> Found:
    """Find the events of an answer in its tokens.

    Args:
        completion: the answer. Its reasoning is searched; without any, its text.
        sequence: its tokens, perhaps as replayed.
        pattern: has a group for each event in between; a group `after` is for models
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
    matches = [*re.finditer(pattern, text)]
    post = sequence.positions.get("post")
    if post:
        tokens["after"] = post[-1]
    wanted = [event for event in EVENTS if event not in tokens]
    if len(matches) != 1:
        reason = TWICE if matches else NO_FORM
        return Found(tokens=tokens, reasons=dict.fromkeys(wanted, reason))

    (form,) = matches
    said = form.groupdict()
    split = tokenize(text)
    start = _start(split.ids, sequence.tokens, pre[-1] + 1)
    reasons = {}
    for event in wanted:
        if not said.get(event):
            reasons[event] = NO_TEMPLATE if event == "after" else NOT_SAID
            continue
        index = _last_token(split, form.end(event))
        # At the ends of a text, templates may join a token with what is beside it.
        if start is None or sequence.tokens[start + index] != split.ids[index]:
            reasons[event] = OTHER_TOKENS
            continue
        tokens[event] = start + index
    return Found(
        tokens={event: tokens[event] for event in EVENTS if event in tokens},
        said={event: said[event] for event in wanted if event in tokens},
        reasons=reasons,
    )


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
