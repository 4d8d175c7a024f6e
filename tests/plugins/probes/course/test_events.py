"""Events are found at the tokens of what is said, or counted out with a reason."""

import re
from dataclasses import replace

from gde import Completion, TokenSequence
from gde.data.completion import Tokenization
from gde.testing.parts import PlantedModel
from gde_plugins.probes.course.config import CourseStudyConfig
from gde_plugins.probes.course.events import (
    EVENTS,
    GOES_ON,
    NO_PATTERN,
    NO_PROMPT,
    NOT_SAID,
    OTHER_TOKENS,
    PREFIX,
    TRUNCATED,
    Found,
    find_events,
)

MODEL = PlantedModel()
REASONING = "A 1,2 G 3,1 path 1,2 2,2 3,2 3,1"
NANO = CourseStudyConfig()
PROSE = CourseStudyConfig(
    agent=r"I am at (\d+,\d+)",
    goal=r"goal is at (\d+,\d+)",
    move="UP|DOWN|LEFT|RIGHT",
    last="",
    after="Answer:",
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


def found(completion: Completion, config: CourseStudyConfig = NANO) -> Found:
    sequence = TokenSequence(
        tokens=completion.prompt_tokens + completion.tokens,
        positions=completion.positions,
    )
    return find_events(completion, sequence, config.patterns, MODEL.tokenize)


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


def test_words_of_a_plain_text_are_found_by_their_patterns() -> None:
    text = "The goal is at 3,1 and I am at 1,2, so I go DOWN. Answer: DOWN"
    events = found(answer(text, reasoning=None), PROSE)
    completion = answer(text, reasoning=None)
    assert text_to(completion, events, "agent").endswith("I am at 1,2")
    assert text_to(completion, events, "goal").endswith("goal is at 3,1")
    assert text_to(completion, events, "move").endswith("so I go DOWN")
    assert text_to(completion, events, "after").endswith("Answer:")
    assert events.said["goal"] == "3,1"
    assert events.reasons == {"last": NO_PATTERN}
    # What comes after the reasoning is the answer, so the move is said once.
    assert not events.repeated


def test_an_answer_is_no_mention() -> None:
    events = found(answer("I am at 1,2. Answer: DOWN", reasoning=None), PROSE)
    assert [*events.tokens] == ["before", "agent", "after"]
    assert events.reasons["move"] == NOT_SAID


def test_what_is_not_said_is_no_event() -> None:
    events = found(answer("DOWN", "A 1,2 G 3,1 path 1,2 2,2"))
    assert events.reasons == {"last": NOT_SAID}
    plain = answer("A 1,2 G 3,1", reasoning=None)
    assert found(plain).reasons["after"] == NO_PATTERN
    assert found(answer("UP", reasoning=None)).reasons["agent"] == NOT_SAID


def test_of_a_pattern_that_matches_twice_the_first_counts() -> None:
    completion = answer("DOWN", "A 1,2 G 3,1 no: A 2,2 path 1,2 2,2 3,2")
    events = found(completion)
    assert text_to(completion, events, "agent") == "go: A 1,2"
    assert events.repeated == ["agent"]


def test_a_token_that_goes_on_is_no_event() -> None:
    def words(text: str) -> Tokenization:
        spans = tuple(match.span() for match in re.finditer(r"\s*\S+", text))
        return Tokenization(ids=tuple(range(9, 9 + len(spans))), spans=spans)

    text = "I am at 1,2. Answer: UP"
    completion = answer(text, reasoning=None, tokens=words(text).ids)
    tokens = completion.prompt_tokens + completion.tokens
    sequence = TokenSequence(tokens=tokens, positions=completion.positions)
    events = find_events(completion, sequence, PROSE.patterns, words)
    assert events.reasons["agent"] == GOES_ON
    assert events.tokens["after"] == len(completion.prompt_tokens) + 4


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
