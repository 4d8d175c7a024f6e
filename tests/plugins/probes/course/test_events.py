"""Events are found at the tokens of what is said, or counted out with a reason."""

from dataclasses import replace

import pytest

from gde import Completion, TokenSequence
from gde.testing.parts import PlantedModel
from gde_plugins.probes.course.config import EVENT_FORM
from gde_plugins.probes.course.events import (
    EVENTS,
    NO_FORM,
    NO_PROMPT,
    NO_TEMPLATE,
    NOT_SAID,
    OTHER_TOKENS,
    PREFIX,
    TRUNCATED,
    TWICE,
    Found,
    find_events,
)

MODEL = PlantedModel()
REASONING = "A 1,2 G 3,1 path 1,2 2,2 3,2 3,1"
PROSE = (
    r"(?s)^.*?I am at (?P<agent>\d+,\d+).*?goal is at (?P<goal>\d+,\d+)"
    r".*?\b(?P<move>UP|DOWN|LEFT|RIGHT)\b.*?(?P<after>Answer:)"
)


def answer(
    text: str, reasoning: str | None = REASONING, **change: object
) -> Completion:
    """A completion of one token a character, between a prompt and an answer."""
    written = f"{reasoning}<end>{text}" if reasoning else text
    prompt = tuple(map(ord, "go: "))
    positions = {"pre": (1, 2, 3)}
    if reasoning:
        close = len(prompt) + len(reasoning)
        positions["post"] = tuple(range(close + 2, close + 5))
    completion = Completion(
        text=text,
        reasoning=reasoning,
        finish="stop",
        prompt_tokens=prompt,
        tokens=tuple(map(ord, written)),
        positions=positions,
    )
    return replace(completion, **change)  # type: ignore[arg-type]


def found(completion: Completion, pattern: str = EVENT_FORM) -> Found:
    sequence = TokenSequence(
        tokens=completion.prompt_tokens + completion.tokens,
        positions=completion.positions,
    )
    return find_events(completion, sequence, pattern, MODEL.tokenize)


def text_to(completion: Completion, found: Found, event: str) -> str:
    """What is written up to an event, its token included."""
    tokens = completion.prompt_tokens + completion.tokens
    return "".join(map(chr, tokens[: found.tokens[event] + 1]))


def test_each_event_is_the_last_token_of_what_is_said() -> None:
    completion = answer("DOWN")
    events = found(completion)
    assert [*events.tokens] == [*EVENTS]
    assert not events.reasons
    assert {event: text_to(completion, events, event) for event in EVENTS} == {
        "before": "go: ",
        "agent": "go: A 1,2",
        "goal": "go: A 1,2 G 3,1",
        "move": "go: A 1,2 G 3,1 path 1,2 2,2",
        "last": f"go: {REASONING}",
        "after": f"go: {REASONING}<end>",
    }
    assert events.said == {"agent": "1,2", "goal": "3,1", "move": "2,2", "last": "3,1"}


def test_events_are_positions_of_one_token() -> None:
    events = found(answer("DOWN"))
    assert events.positions[f"{PREFIX}before"] == (3,)
    assert {*events.positions} == {PREFIX + event for event in EVENTS}


def test_words_of_a_plain_text_are_found_by_their_form() -> None:
    text = "I am at 1,2. The goal is at 3,1, so I go DOWN and then LEFT. Answer: DOWN"
    completion = answer(text, reasoning=None)
    events = found(completion, PROSE)
    assert text_to(completion, events, "move").endswith("so I go DOWN")
    assert text_to(completion, events, "after").endswith("Answer:")
    assert events.reasons == {"last": NOT_SAID}


def test_what_is_not_said_is_no_event() -> None:
    events = found(answer("DOWN", "A 1,2 G 3,1 path 1,2 2,2"))
    assert events.reasons == {"last": NOT_SAID}
    plain = answer("A 1,2 G 3,1", reasoning=None)
    assert found(plain).reasons["after"] == NO_TEMPLATE


@pytest.mark.parametrize(
    ("reasoning", "reason"),
    [(f"{REASONING}; no: {REASONING}", TWICE), ("Let me think.", NO_FORM)],
)
def test_a_form_that_is_not_there_once_is_not_guessed(
    reasoning: str, reason: str
) -> None:
    events = found(answer("DOWN", reasoning))
    assert events.reasons == dict.fromkeys(EVENTS[1:-1], reason)
    assert [*events.tokens] == ["before", "after"]


def test_a_truncated_text_has_no_events_but_the_prompt() -> None:
    events = found(answer("", finish="length"))
    assert [*events.tokens] == ["before"]
    assert events.reasons == dict.fromkeys(EVENTS[1:], TRUNCATED)


def test_a_prompt_without_marks_has_no_events() -> None:
    assert found(answer("DOWN", positions={})).reasons == dict.fromkeys(
        EVENTS, NO_PROMPT
    )


def test_other_tokens_than_those_of_the_text_are_no_place() -> None:
    completion = answer("DOWN")
    tokens = list(completion.tokens)
    tokens[3] = ord("x")
    events = found(replace(completion, tokens=tuple(tokens)))
    assert events.reasons == dict.fromkeys(EVENTS[1:-1], OTHER_TOKENS)


def test_ends_of_a_text_may_be_joined_with_what_is_beside_it() -> None:
    completion = answer("DOWN")
    tokens = list(completion.tokens)
    # The last character of the path is one token with the first of what follows.
    tokens[len(REASONING) - 1] = 1_000
    events = found(replace(completion, tokens=tuple(tokens)))
    assert events.reasons == {"last": OTHER_TOKENS}


def test_a_text_that_stands_twice_among_the_tokens_has_no_place() -> None:
    completion = answer(f"{REASONING}<end>")
    assert found(completion).reasons["agent"] == OTHER_TOKENS
