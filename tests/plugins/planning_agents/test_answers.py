"""Answers with a thought: what is read, and what is told to whom gets it wrong."""

from typing import Any

import pytest

from gde.data.answer import Reading
from gde.data.completion import Completion
from gde_plugins.planning_agents.answers import (
    Rejected,
    ended,
    one_action,
    several_actions,
)
from gde_plugins.planning_agents.effort import Effort

MOVES = ("LEFT", "RIGHT")


def said(text: str, **change: Any) -> Completion:
    return Completion(**{"text": text, "reasoning": None, "finish": "stop", **change})


@pytest.mark.parametrize(
    "text",
    [
        "Thought: go.\nAction: RIGHT",
        "Thought: two\nlines\nAction:RIGHT  \n",
        "  Thought:\nAction: right",
        "Thought: Action: is a word.\nAction: RIGHT",
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_a_thought_and_an_action_are_read(text: str, strict: bool) -> None:
    assert one_action(said(text), MOVES, strict=strict) == Reading(action="RIGHT")


@pytest.mark.parametrize(
    "text",
    [
        "RIGHT",
        "Action: RIGHT",
        "Thought: go right",
        "Thought: go.\nAction:",
        "Thought: go.\nAction: LEFT\nAction: RIGHT",
        "Thought: go.\nAction: RIGHT\nObservation: you are there",
        "Sure! Thought: go.\nAction: RIGHT",
        "Thought: go.\nAction: RIGHT\nand then LEFT",
        '{"action": "RIGHT"}',
        "\x00" * 10,
        "Thought:" * 10_000,
    ],
)
def test_anything_else_is_malformed_to_a_strict_reading(text: str) -> None:
    found = one_action(said(text), MOVES, strict=True)
    assert isinstance(found, Rejected)
    assert found.status == "unparsable"
    assert "Invalid format" in found.feedback
    assert len(found.detail) < 300


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Action: RIGHT", "marker"),
        ("Sure! Thought: go.\nAction: RIGHT", "marker"),
        ("Thought: not LEFT.\n**Action:** RIGHT", "marker"),
        ("Thought: go.\nAction: RIGHT\nThat is all.", "marker"),
        ('{"action": "RIGHT"}', "json"),
    ],
)
def test_a_stated_action_is_read_by_a_rule(text: str, rule: str) -> None:
    found = one_action(said(text), MOVES)
    assert isinstance(found, Reading)
    assert (found.action, found.rule) == ("RIGHT", rule)


@pytest.mark.parametrize(
    "text",
    [
        "Thought: go right",
        "Thought: RIGHT",
        "Thought: go.\nAction: LEFT\nAction: RIGHT",
        "Thought: go.\nAction: RIGHT\nObservation: you are there",
        "\x00" * 10,
    ],
)
def test_a_thought_alone_and_an_imagined_world_are_never_read(text: str) -> None:
    found = one_action(said(text), MOVES)
    assert isinstance(found, Rejected)
    assert found.status == "unparsable"


@pytest.mark.parametrize(
    ("text", "finish", "status"),
    [
        ("", "stop", "empty"),
        ("Thought: I", "length", "truncated"),
        ("No.", "refusal", "refusal"),
    ],
)
def test_why_there_is_no_answer_is_told_apart(
    text: str, finish: str, status: str
) -> None:
    found = one_action(said(text, finish=finish), MOVES)
    assert isinstance(found, Rejected)
    assert found.status == status


def test_an_action_that_cannot_be_taken_is_a_mistake_of_another_kind() -> None:
    found = one_action(said("Thought: up.\nAction: UP"), MOVES)
    assert isinstance(found, Rejected)
    assert (found.status, "'UP'" in found.feedback) == ("invalid_action", True)
    several_lines = one_action(said("Thought: up.\nAction: search[red\nshoe]"), None)
    assert several_lines == Reading(action="search[red\nshoe]")
    halves = one_action(said("Thought: up.\nAction: \ud800"), None)
    assert isinstance(halves, Rejected)


def test_candidates_are_distinct_admissible_and_no_more_than_asked_for() -> None:
    text = (
        "Thought: both.\nAction 1: RIGHT\nAction 2: UP\nAction 3: right\nAction 4: LEFT"
    )
    assert several_actions(said(text), MOVES, 5) == (("RIGHT", "LEFT"), 1)
    assert several_actions(said(text), MOVES, 1) == (("RIGHT",), 1)
    none = several_actions(said("Thought: hm.\nAction 1: UP"), MOVES, 5)
    assert isinstance(none, Rejected)
    assert none.status == "invalid_action"
    for text in (
        "Action 1: LEFT",
        "Thought: x\nAction 1: LEFT\nGood luck!",
        "Thought: x",
    ):
        found = several_actions(said(text), MOVES, 5, strict=True)
        assert isinstance(found, Rejected)
        assert found.status == "unparsable"
    listed = "So:\n- **Action 1:** `left`\n- **Action 2:** go RIGHT\nGood luck!"
    assert several_actions(said(listed), MOVES, 5) == (MOVES, 0)
    cut = "Thought: x\nAction 1: LEFT\nAction 2: RIGHT"
    assert several_actions(said(cut, finish="length"), MOVES, 5) == (("LEFT",), 0)
    for text, status in (("Thought: x", "unparsable"), ("I'm sorry.", "refusal")):
        found = several_actions(said(text), MOVES, 5)
        assert isinstance(found, Rejected)
        assert found.status == status


def test_what_a_decision_took_is_read_as_it_was_noted() -> None:
    effort = Effort(
        simulator_steps=64, model_calls=2, judged=9, unjudged=1, malformed=1
    )
    assert Effort.noted(effort.note) == effort
    assert Effort.noted(f"wanted x, got 'planning: judged=3'; {effort.note}") == effort
    assert Effort.noted("") is None
    assert Effort.noted("the planning: nothing") is None


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (
            "Thought: go.\nAction: LEFT\n\nObservation: a wall\nAction: RIGHT",
            "Thought: go.\nAction: LEFT",
        ),
        (
            "Thought: go.\nAction 1: LEFT\nAction 2: RIGHT\nThe end",
            "Thought: go.\nAction 1: LEFT\nAction 2: RIGHT",
        ),
        ("Thought: go.\nAction: LEFT\n", "Thought: go.\nAction: LEFT"),
        ("Action: LEFT\nThought: go.", "Action: LEFT"),
        ("Thought: I go on and on\nand on", "Thought: I go on and on\nand on"),
        ("", ""),
    ],
)
def test_what_goes_on_after_its_actions_can_be_left_out(text: str, read: str) -> None:
    assert ended(text) == read
