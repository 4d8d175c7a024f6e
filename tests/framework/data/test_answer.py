"""Every answer becomes an action, by the form asked for or by a named rule, or a reason."""

import json
from collections.abc import Sequence
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.action_names import named_in
from gde.data.answer import (
    FORMS,
    LEFT_IN,
    NOTE,
    Form,
    Reading,
    is_strict,
    quoted,
    read_answer,
    read_silence,
)
from gde.data.completion import Completion, Finish
from gde.data.tool_call import ToolCall, with_calls
from gde.data.trajectory import STATUSES, Decision

MOVES = ("UP", "DOWN", "LEFT", "RIGHT")
COMMANDS = ("go to room 1", "go to room 12", "open the door", "take the red key")
STRICT = "strict"


def said(text: str, finish: Finish = "stop") -> Completion:
    return Completion(text=text, reasoning=None, finish=finish, n_completion=12)


def read(text: str, actions: Sequence[str] | None = MOVES, form: Form = "json") -> str:
    """The action and how it was read, or the class of the answer."""
    found = read_answer(said(text), actions, form)
    return f"{found.action} ({found.rule or STRICT})" if found.action else found.status


# Answers as models of many makers give them to the published prompt.
SHAPES = {
    '{"action": "UP"}': "UP (strict)",
    ' \n{"action":"up", "why": 1}\n': "UP (strict)",
    '```json\n{"action": "UP"}\n```': "UP (json)",
    '```\n{"action": "UP",}```': "UP (marker)",
    'Sure! Here is my move:\n\n{"action": "UP"}\n\nGood luck!': "UP (json)",
    'First {"action": "UP"}, but a wall is there, so {"action": "LEFT"}': "LEFT (json)",
    "{'action': 'RIGHT', 'why': 'it\\'s free'}": "RIGHT (marker)",
    '{"why": "it is "free" there", "action": "RIGHT"}': "RIGHT (marker)",
    '{"Action": "DOWN"}': "DOWN (json)",
    '{"answer": {"action": "DOWN"}, "sure": true}': "DOWN (json)",
    '{"plan": [1, 2], "action": "UP", "next": [{"action": "LEFT"}]}': "UP (strict)",
    '{"action": "UP"': "UP (marker)",
    '{"action": "Move UP."}': "UP (json)",
    '<tool_call>\n{"name": "act", "arguments": {"action": "UP"}}\n</tool_call>': "UP (json)",
    "{action: UP}": "UP (marker)",
    "Action: UP": "UP (marker)",
    "**Action:** UP": "UP (marker)",
    "**Action**: `UP`.": "UP (marker)",
    "I see a wall.\n\n### Action = up": "UP (marker)",
    "Thought: go.\nAction: LEFT\n": "LEFT (marker)",
    "action\uff1a\uff35\uff30": "UP (marker)",
    "Action:\n```text\nDOWN\n```": "DOWN (marker)",
    "The best action is: **LEFT**, which is free.": "LEFT (marker)",
    "Action: UP would hit a wall.\nAction after that: hm\n\nSo Action: LEFT": "LEFT (marker)",
    "UP": "UP (whole answer)",
    "**UP**": "UP (whole answer)",
    "\u201cUp\u201d!": "UP (whole answer)",
    "- `UP`": "UP (whole answer)",
    "1.\u00a0UP\u200b": "UP (whole answer)",
    "```\nUP\n```": "UP (whole answer)",
    "The goal is above, not LEFT.\n\nI will move UP.": "UP (last line)",
    "So the answer is $\\boxed{DOWN}$": "DOWN (last line)",
    "The goal is above.\n\n**UP**\n```": "UP (last line)",
    "UP or LEFT": "unparsable",
    "Up or LEFT": "unparsable",
    "There is one step left.": "unparsable",
    "Action: UP\nAction: LEFT": "unparsable",
    '[{"action": "UP"}, {"action": "LEFT"}]': "unparsable",
    '{"action": "<UP|DOWN|LEFT|RIGHT>"}': "unparsable",
    "I must not go UP.": "unparsable",
    "Don\u2019t go UP": "unparsable",
    "Shall I go UP?": "unparsable",
    "UPWARDS": "UP (whole answer)",
    '{"move": "north"}': "UP (json)",
    "[" * 100_000: "unparsable",
    '{"a":' * 30_000: "unparsable",
    '{"action": "JUMP"}': "invalid_action",
    '{"action": null}': "invalid_action",
    "Action: jump": "invalid_action",
    "": "empty",
    " \n\u00a0": "empty",
    "I'm sorry, but I can't go UP.": "refusal",
    "As an AI, I do not move.": "refusal",
    "I will not do that": "refusal",
}


@pytest.mark.parametrize(("text", "wanted"), SHAPES.items(), ids=lambda text: text[:40])
def test_an_answer_is_read_by_the_first_rule_that_fits(text: str, wanted: str) -> None:
    assert read(text) == wanted


@pytest.mark.parametrize("text", SHAPES)
def test_the_strict_reading_takes_the_published_form_alone(text: str) -> None:
    found = read_answer(said(text), MOVES, strict=True)
    assert (found.action is not None) == SHAPES[text].endswith("(strict)")
    assert found.rule is None
    lenient = SHAPES[text].partition(" (")[0]
    if found.status == "unparsable" and lenient in MOVES:
        assert found.reason.endswith(f"agent.strict=false reads {lenient!r}")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("I go to room 12", "go to room 12"),
        ("**Go to Room 1**", "go to room 1"),
        ("I will open the door.", "open the door"),
        ('{"action": "Take the  red key"}', "take the red key"),
        ("I reopen the doors.", None),
        ("Go to room 1, then open the door.", None),
        ("Go to room 123", None),
    ],
)
def test_a_name_counts_as_whole_words_and_the_longest_alone(
    text: str, action: str | None
) -> None:
    assert read_answer(said(text), COMMANDS).action == action


def test_names_that_overlap_are_both_named_and_a_letter_is_none_in_prose() -> None:
    assert named_in("look at box a now", ("look at box", "box a")) == [
        "look at box",
        "box a",
    ]
    assert named_in("take a step", ("A", "B")) == []
    assert read("A", ("A", "B")) == "A (whole answer)"


def test_actions_that_differ_by_spelling_alone_are_never_mixed_up() -> None:
    assert read_answer(said('{"action": "up"}'), ("UP", "up")).action == "up"
    assert read_answer(said('{"action": "Up"}'), ("UP", "up")).action is None
    assert read_answer(said("Up"), ("UP", "up")).action is None


@pytest.mark.parametrize(
    ("text", "finish", "wanted"),
    [
        ("", "length", "cut off before an answer, after 12 tokens"),
        ('{"action": "U', "length", 'the answer was cut off: \'{"action": "U\''),
        ('{"action": "UP"} but th', "length", "the answer was cut off"),
        ("I go to UP", "length", "the answer was cut off"),
        ("Action: UP", "length", "the answer was cut off"),
    ],
)
def test_an_answer_without_its_end_is_never_read(
    text: str, finish: Finish, wanted: str
) -> None:
    for form in FORMS:
        for strict in (False, True):
            found = read_answer(said(text, finish), MOVES, form, strict=strict)
            assert (found.action, found.status) == (None, "truncated")
            assert found.reason.startswith(wanted)
            assert found.reason.endswith("raise agent.max_tokens")


def test_a_whole_object_counts_although_the_limit_was_reached() -> None:
    assert read_answer(said('{"action": "UP"}', "length"), MOVES).action == "UP"
    fenced = '```json\n{"action": "UP"}\n```'
    assert read_answer(said(fenced, "length"), MOVES).action == "UP"
    assert read_answer(said("(go UP {now}", "length"), MOVES).status == "truncated"


def test_what_the_server_calls_a_refusal_is_one() -> None:
    found = read_answer(said('{"action": "UP"}', "refusal"), MOVES)
    assert (found.action, found.status) == (None, "refusal")


@pytest.mark.parametrize(
    ("form", "text", "wanted"),
    [
        ("text", "A wall is above.\nUP", "UP (strict)"),
        ("text", "Action: DOWN\nNo:\nup ", "UP (strict)"),
        ("text", "A wall is above.\n**UP**.", "UP (last line)"),
        ("text", '{"action": "UP"}', "UP (json)"),
        ("text", "I cannot go UP", "refusal"),
        ("schema", '{"action": "UP"}', "UP (strict)"),
        ("schema", "UP", "UP (whole answer)"),
        ("tools", '{"action": "UP"}', "UP (json)"),
        ("thought", "Thought: up.\nAction: UP", "UP (strict)"),
        ("thought", "Action: UP", "UP (marker)"),
        ("thought", '{"action": "UP"}', "UP (json)"),
        ("thought", "Thought: I could go UP", "unparsable"),
        ("thought", "Thought: x\nAction: UP\nObservation: y", "unparsable"),
    ],
)
def test_every_form_has_a_strict_reading_of_its_own(
    form: Form, text: str, wanted: str
) -> None:
    assert read(text, form=form) == wanted


@pytest.mark.parametrize(
    ("calls", "wanted"),
    [
        ([ToolCall(name="act", arguments={"action": "UP"})], "UP (strict)"),
        ([ToolCall(name="move", arguments={"action": "UP"})], "UP (json)"),
        ([ToolCall(name="act", arguments={"action": "JUMP"})], "invalid_action"),
        ([ToolCall(name="act", arguments='{"action": "U')], "unparsable"),
        ([ToolCall(name="act", arguments={"action": "UP"})] * 2, "UP (json)"),
        (
            [ToolCall(name="act", arguments={"action": each}) for each in MOVES],
            "unparsable",
        ),
    ],
)
def test_one_call_of_the_tool_is_the_action(
    calls: Sequence[ToolCall], wanted: str
) -> None:
    assert read(with_calls("I move.", calls), form="tools") == wanted


@pytest.mark.parametrize(
    ("text", "form", "wanted"),
    [
        ('{"action": " open the door "}', "json", "open the door (strict)"),
        ('I say {"action": "open"}', "json", "open (json)"),
        ("Action: open the door", "json", "unparsable"),
        ("Action: open", "text", "Action: open (strict)"),
        ("open the door", "json", "unparsable"),
        ("It is shut.\nopen the door", "text", "open the door (strict)"),
        ("Thought: x\nAction: f(\n1)", "thought", "f(\n1) (strict)"),
        ('{"action": ""}', "json", "invalid_action"),
        ('{"action": "\\ud800"}', "json", "invalid_action"),
    ],
)
def test_where_any_text_may_be_tried_only_a_stated_action_is_read(
    text: str, form: Form, wanted: str
) -> None:
    assert read(text, None, form) == wanted


def test_free_texts_may_have_any_length_and_several_lines() -> None:
    for text in ("two\nlines", "def f():\n\treturn 1\r\n\n# é\u4e16", "long" * 50_000):
        found = read_answer(said(json.dumps({"action": text})), None)
        assert (found.action, found.rule) == (text, None)


def test_a_decision_notes_the_rule_unless_the_answer_has_the_form() -> None:
    strict = read_answer(said('{"action": "UP"}'), MOVES).decision(said("x"))
    assert (strict.action, strict.detail, is_strict(strict)) == ("UP", "", True)
    lenient = read_answer(said("UP"), MOVES).decision(said("x"))
    assert lenient.detail == f"{NOTE}whole answer"
    assert not is_strict(lenient)
    none = read_answer(said("hm"), MOVES).decision(said("hm"))
    assert (none.status, is_strict(none)) == ("unparsable", False)
    assert is_strict(Decision.act("UP"))


def test_reasons_quote_the_answer_and_name_the_setting_that_helps() -> None:
    unread = read_answer(said("I think so"), MOVES).reason
    assert unread.startswith("found no action in 'I think so'; ")
    assert unread.endswith("agent.actions=schema or tools")
    assert "agent.actions" not in read_answer(said("hm"), MOVES, "schema").reason
    many = tuple(f"go to {i}" for i in range(20))
    invalid = read_answer(said('{"action": "hm"}'), many).reason
    assert invalid == "wanted one of the 20 admissible actions; got 'hm'"
    both = read_answer(said("UP or LEFT"), MOVES).reason
    assert both == "the answer names 'UP' and 'LEFT' equally"
    going_on = "Thought: x\nAction: UP\nObservation: y"
    rest = read_answer(said(going_on), MOVES, "thought").reason
    assert rest.endswith("agent.rest=dropped reads it up to its action")
    silent = Completion(text="", reasoning="hm", finish="stop")
    nothing = read_silence(silent)
    assert nothing is not None
    assert nothing.reason == "the model reasoned, but ended without an answer"
    assert quoted("x" * 500).endswith("... (500 characters)")


PIECES = ("up", "Action:", "action = ", '{"action": "', '"}', "{'action': '", "'}")
PIECES += ("```", "**", "- ", "not", "?", ",", "\\", "{", "}", " ", "\n", "\ud800")
PIECES += ("<tool_call>", "</tool_call>", "Thought: ", "Observation:")
TEXTS = st.one_of(
    st.text(st.characters(codec=None)),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(MOVES),
        lambda inner: (
            st.lists(inner) | st.dictionaries(st.just("action") | st.text(), inner)
        ),
    ).map(json.dumps),
    # Pieces of the forms in any order.
    st.lists(st.sampled_from([*MOVES, *PIECES]) | st.text(max_size=3)).map("".join),
)


@given(
    TEXTS,
    st.sampled_from(("stop", "length", "refusal")),
    st.none() | st.just(MOVES) | st.lists(st.text(), max_size=4).map(tuple),
    st.sampled_from([*FORMS]),
    st.booleans(),
)
def test_any_text_is_an_admissible_action_or_in_one_class(
    text: str,
    finish: Finish,
    actions: tuple[str, ...] | None,
    form: Form,
    strict: bool,
) -> None:
    found = read_answer(said(text, finish), actions, form, strict=strict)
    assert found.status in STATUSES
    assert found.status != "error"
    assert (found.action is None) == (found.status != "ok")
    assert bool(found.reason) == (found.action is None)
    if found.action is not None:
        assert actions is None or found.action in actions
        assert found.rule is None or not strict
        found.action.encode()
    decision = found.decision(said(text))
    decision.detail.encode()


@given(TEXTS, st.sampled_from([*FORMS]))
def test_what_is_read_strictly_is_read_leniently_alike(text: str, form: Form) -> None:
    strict = read_answer(said(text), MOVES, form, strict=True)
    lenient = read_answer(said(text), MOVES, form)
    if strict.action is not None:
        assert lenient == strict
    else:
        assert lenient.action is None or lenient.rule is not None


@given(st.permutations(MOVES), st.sampled_from([", ", "\n", " or ", "/", " and then "]))
def test_several_actions_that_are_named_equally_are_none(
    order: Sequence[str], between: str
) -> None:
    first, second, *_ = order
    for text in (
        f"{first}{between}{second}",
        f"Action: {first}\nAction: {second}",
        f'{{"action": "{first}"}}, {{"action": "{second}"}}',
    ):
        if between != "\n" or text.startswith(("Action", "{")):
            assert read_answer(said(text), MOVES).action is None


@pytest.mark.parametrize(
    "text", ['{"a":' * 50_000, "Action: " * 50_000, "**" * 200_000]
)
def test_no_text_takes_long(text: str) -> None:
    begun = process_time()
    read_answer(said(text), tuple(f"go to room {i}" for i in range(300)))
    assert process_time() - begun < 2


def test_a_reading_without_a_rule_has_no_note() -> None:
    assert Reading(action="UP").note == ""
    assert Reading(action="UP", rule="json").note == f"{NOTE}json"


@pytest.mark.parametrize("strict", [False, True])
def test_what_a_server_left_of_a_format_is_no_fault_of_the_answer(strict: bool) -> None:
    for token in ("<|return|>", "<|im_end|>", "</s>"):
        completion = said('{"action": "UP"}' + token)
        reading = read_answer(completion, MOVES, strict=strict)
        decision = reading.decision(completion)
        assert decision.action == "UP" and is_strict(decision)
        assert decision.detail == LEFT_IN
