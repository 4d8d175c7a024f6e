"""Every answer becomes an action or a reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.completion import Completion, Finish
from gde.data.trajectory import STATUSES
from gde_plugins.text_agent.answers import decide

MOVES = ("UP", "DOWN", "LEFT", "RIGHT")
TEXTS = st.one_of(
    st.text(st.characters(codec=None)),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(MOVES),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.just("action") | st.text(), inner)
        ),
    ).map(json.dumps),
    st.builds(
        lambda word, rest: json.dumps({"action": word}) + rest,
        st.sampled_from(MOVES) | st.text(),
        st.text(),
    ),
)


def said(text: str, finish: Finish = "stop") -> Completion:
    return Completion(text=text, reasoning=None, finish=finish, n_completion=12)


@given(
    TEXTS,
    st.sampled_from(("stop", "length", "refusal")),
    st.none() | st.just(MOVES),
    st.booleans(),
)
def test_any_text_is_classified(
    text: str, finish: Finish, actions: tuple[str, ...] | None, strict: bool
) -> None:
    decision = decide(said(text, finish), actions, strict=strict)
    assert decision.status in STATUSES
    assert decision.status != "error"
    assert decision.detail.isprintable()
    assert bool(decision.detail) == (decision.status != "ok")
    if decision.action is not None:
        assert actions is None or decision.action in actions
    decision.detail.encode()


@given(
    st.sampled_from(MOVES),
    st.sampled_from([str, str.lower, str.title]),
    st.sampled_from(["", " ", "\n\t"]),
)
def test_an_admissible_action_is_taken_in_any_case(
    action: str, spell: type[str], space: str
) -> None:
    decision = decide(
        said(space + json.dumps({"action": spell(action), "why": 1}) + space), MOVES
    )
    assert (decision.status, decision.action) == ("ok", action)


@given(
    st.text(min_size=1).filter(
        lambda text: text.strip().casefold() not in {move.casefold() for move in MOVES}
    )
)
def test_another_action_is_invalid(action: str) -> None:
    decision = decide(said(json.dumps({"action": action})), MOVES)
    assert decision.status == "invalid_action"
    assert "wanted one of UP, DOWN, LEFT, RIGHT; got " in decision.detail


@pytest.mark.parametrize(
    ("text", "finish", "status", "detail"),
    [
        ("", "stop", "empty", "without an answer"),
        (" \n", "stop", "empty", "without an answer"),
        ("", "length", "truncated", "after 12 tokens"),
        ('{"action": "U', "length", "truncated", "cut off"),
        ("", "refusal", "refusal", "refused"),
        ('{"action": "UP"}', "refusal", "refusal", "refused"),
        ("I'm sorry, but I can't help with that.", "stop", "refusal", "I'm sorry"),
        ("I\u2019m sorry", "stop", "refusal", "refused"),
        ("Sorry, no.", "stop", "refusal", "refused"),
        ("I cannot assist with moving.", "stop", "refusal", "refused"),
        ("I will not do that", "stop", "refusal", "refused"),
        ("As an AI model, I", "stop", "refusal", "refused"),
        (
            "I think UP",
            "stop",
            "unparsable",
            "JSON object with a text under \"action\", got 'I think UP'",
        ),
        ("UP", "stop", "unparsable", "got 'UP'"),
        ('"UP"', "stop", "unparsable", "JSON object"),
        ('{"move": "UP"}', "stop", "unparsable", "JSON object"),
        ('{"action": 1}', "stop", "unparsable", "JSON object"),
        ('{"action": "UP"} ok', "stop", "unparsable", "JSON object"),
        ('{"action": "UP",}', "stop", "unparsable", "JSON object"),
        ('```json\n{"action": "UP"}\n```', "stop", "unparsable", "JSON object"),
        ("x" * 500, "stop", "unparsable", "(500 characters)"),
        ("[" * 100_000, "stop", "unparsable", "(100000 characters)"),
        ('{"action": "JUMP"}', "stop", "invalid_action", "got 'JUMP'"),
    ],
)
def test_every_reason_is_told_apart(
    text: str, finish: Finish, status: str, detail: str
) -> None:
    decision = decide(said(text, finish), MOVES)
    assert (decision.status, decision.action) == (status, None)
    assert detail in decision.detail
    assert len(decision.detail) < 250
    assert decision.completion is not None
    assert decision.completion.text == text


def test_an_answer_that_is_whole_counts_though_the_limit_was_reached() -> None:
    assert decide(said('{"action": "UP"}', "length"), MOVES).action == "UP"


@pytest.mark.parametrize(
    "text",
    [
        '{"action": "UP",}',
        '{"action": "UP" , }',
        '```json\n{"action": "UP"}\n```',
        '```\n{"action": "UP",}```',
    ],
)
def test_small_faults_are_forgiven_where_wanted(text: str) -> None:
    assert decide(said(text), MOVES, strict=False).action == "UP"
    assert decide(said(text), MOVES, strict=True).status == "unparsable"


@pytest.mark.parametrize("text", ['I say {"action": "UP"}', "UP", '{"action": "UP"'])
def test_no_more_than_that_is_forgiven(text: str) -> None:
    assert decide(said(text), MOVES, strict=False).status == "unparsable"


def test_free_worlds_take_any_text() -> None:
    assert decide(said('{"action": " open the door "}'), None).action == "open the door"
    for text in (
        "two\nlines",
        "def f():\n\treturn 1\r\n\n# é\u4e16",
        "long" * 50_000,
        "a bell\a",
    ):
        assert decide(said(json.dumps({"action": text})), None).action == text.strip()


@pytest.mark.parametrize("text", ["", " \n ", "\ud800"])
def test_no_text_and_half_a_character_are_none_to_try(text: str) -> None:
    decision = decide(said(json.dumps({"action": text})), None)
    assert decision.status == "invalid_action"
    assert f"wanted a text, got {text!r}" in decision.detail


def test_an_exact_match_goes_before_a_loose_one() -> None:
    assert decide(said('{"action": "up"}'), ("UP", "up")).action == "up"
