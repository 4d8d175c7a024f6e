"""Reasoning is split from the answer by the convention that a text shows."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gde.data.tool_call import ToolCall, with_calls
from gde_plugins.language_models.reasoning_text import TAGS, Halves, split_reasoning

ACT = '{"action": "UP"}'
ANALYSIS = "<|channel|>analysis<|message|>A wall.<|end|>"
FINAL = f"<|start|>assistant<|channel|>final<|message|>{ACT}<|return|>"
CALL = with_calls("", [ToolCall(name="act", arguments={"action": "UP"})])


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("UP", "UP", None),
        ("", "", None),
        ("<think>A wall.</think>\n\nUP", "UP", "A wall."),
        ("<think>\n\n</think>\n\nUP", "UP", ""),
        ("A wall.\n</think>\nUP", "UP", "A wall."),
        ("<think>a</think><think>b</think>UP", "UP", "a\nb"),
        ("a</think>b</think>UP", "UP", "ab"),
        ("I write <think> and UP", "I write <think> and UP", None),
        (ANALYSIS + FINAL, ACT, "A wall."),
        (f"analysis<|message|>A wall.<|end|>{FINAL}", ACT, "A wall."),
        (ANALYSIS + ANALYSIS + FINAL.removesuffix("<|return|>"), ACT, "A wall.\nA wall."),
        (FINAL, ACT, None),
        (
            f"{ANALYSIS}<|start|>assistant<|channel|>commentary to=functions.act "
            f"<|constrain|>json<|message|>{ACT}<|call|>",
            CALL,
            "A wall.",
        ),
        (
            f"<|start|>assistant to=functions.act<|channel|>commentary json<|message|>{ACT}<|call|>",
            CALL,
            None,
        ),
        ("a <|message|> alone", "a <|message|> alone", None),
        (f"analysisA wall.assistantfinal{ACT}", ACT, "A wall."),
        (f"analysisA wall.assistantcommentary to=functions.act json{ACT}", CALL, "A wall."),
        (f"final{ACT}", ACT, None),
        (f"assistantfinal{ACT}", ACT, None),
        ("analysis of the maze: UP", "analysis of the maze: UP", None),
    ],
)  # fmt: skip
def test_a_text_is_split_where_the_reasoning_ends(
    text: str, answer: str, reasoning: str | None
) -> None:
    assert split_reasoning(text) == Halves(text=answer, reasoning=reasoning)


@pytest.mark.parametrize(("opening", "closing"), TAGS)
def test_every_pair_of_tags_is_known(opening: str, closing: str) -> None:
    split = split_reasoning(f"{opening}hm{closing}UP")
    assert split == Halves(text="UP", reasoning="hm")


@pytest.mark.parametrize(
    "text",
    [
        "<think>A wall is",
        "\n<think>A wall is",
        "<|channel|>analysis<|message|>A wall is",
        "analysis<|message|>A wall is",
        "analysisA wall is",
    ],
)
def test_reasoning_without_an_end_was_cut_off(text: str) -> None:
    split = split_reasoning(text)
    assert (split.text, split.reasoning, split.cut) == ("", "A wall is", True)


def test_an_answer_that_ends_before_its_last_message_is_none() -> None:
    assert not split_reasoning(ANALYSIS).cut
    assert split_reasoning(ANALYSIS).text == ""


@given(st.text(), st.text(), st.sampled_from(TAGS))
def test_nothing_but_the_tags_is_lost(
    thought: str, answer: str, tags: tuple[str, str]
) -> None:
    # Tags within would begin or end a thought of their own.
    assume(not any(tag in thought + answer for pair in TAGS for tag in pair))
    opening, closing = tags
    split = split_reasoning(f"{opening}{thought}{closing}{answer}")
    assert (split.reasoning, split.text) == (thought.strip(), answer.strip())


@given(
    st.lists(st.sampled_from([ACT, "analysis", *sum(TAGS, ()), ANALYSIS, FINAL, "x"]))
)
def test_any_text_is_split(pieces: list[str]) -> None:
    split = split_reasoning("".join(pieces))
    assert not split.cut or split.text == ""
