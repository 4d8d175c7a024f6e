"""Answers in the styles of many models are read as a careful person reads them.

`answers.jsonl` holds made-up answers to the questions for actions, states, plans,
subgoals, commands and scores, each with what it says: null where it says nothing, or
leaves more than one reading. To read none is a miss; to read another is a fault.
"""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gde.data.answer import read_answer
from gde.data.completion import Completion
from gde_plugins.babyai.oracle.subgoals import write
from gde_plugins.babyai.tasks import parsing
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.language_models.reasoning_text import split_reasoning
from gde_plugins.reward_judge.scores import NoScore, parse_score

CORPUS = [
    json.loads(line)
    for line in (Path(__file__).parent / "answers.jsonl")
    .read_text("utf-8")
    .splitlines()
]
TASKS = ("action", "predict", "plan", "decompose", "command", "judge")
LEAST = 0.95
"""The share of the readable answers that is read."""


SCENE = make_scene("GoToObj", 2, "3.0")


def read(row: dict[str, Any]) -> object:
    """What the reader of the task makes of an answer, in the notation of the corpus."""
    halves = split_reasoning(row["text"])
    finish = "length" if halves.cut else row.get("finish", "stop")
    said = Completion(text=halves.text, reasoning=halves.reasoning, finish=finish)
    width, height = row.get("grid", (22, 22))
    scene = replace(SCENE, width=width, height=height)
    match row["task"]:
        case "action":
            return read_answer(said, row["vocabulary"], row.get("form", "json")).action
        case "command":
            return read_answer(said, row["admissible"], row.get("form", "json")).action
        case "judge":
            try:
                return parse_score(said)
            except NoScore:
                return None
        case _ if finish != "stop":
            return None
        case "predict":
            state = parsing.read_state(said.text, scene).value
            return None if state is None else str(state)
        case "plan":
            plan = parsing.read_plan(said.text).value
            return None if plan is None else [*plan]
        case _:
            subgoals = parsing.read_subgoals(said.text, scene).value
            return None if subgoals is None else [write(one, scene) for one in subgoals]


def is_same(found: object, gold: object) -> bool:
    if isinstance(found, float) and isinstance(gold, float):
        return abs(found - gold) < 1e-6
    return found == gold


@pytest.mark.parametrize("task", TASKS)
def test_what_an_answer_says_is_read_and_nothing_else(task: str) -> None:
    outcomes: Counter[str] = Counter()
    wrong = []
    for row in CORPUS:
        if row["task"] != task:
            continue
        found = read(row)
        if row["gold"] is not None:
            outcomes["read" if is_same(found, row["gold"]) else "missed"] += 1
        if found is not None and not is_same(found, row["gold"]):
            wrong.append((row["text"], found, row["gold"]))
    assert not wrong
    assert outcomes["read"] >= LEAST * outcomes.total() > 60 * LEAST


EXACT = [row for row in CORPUS if row["style"] == "exact"]
AROUND = {
    "a fence": "```\n{}\n```",
    "bold type": "**{}**",
    "an end token": "{}<|im_end|>",
    "another's turn": "{}<|im_end|>\n<|im_start|>user\nUP, or score: 0.9",
    "thoughts": "<thinking>UP? ((1, 1), 1)? score: 0.9?</thinking>\n{}",
    "good wishes": "{}\n\nLet me know if you need anything else!",
}


@pytest.mark.parametrize("around", AROUND)
def test_marks_around_an_answer_change_nothing(around: str) -> None:
    assert {row["task"] for row in EXACT} == {*TASKS}
    for row in EXACT:
        # Bold type ends with its paragraph, and so do good wishes.
        if "\n" in row["text"].strip() and around == "bold type":
            continue
        changed = {**row, "text": AROUND[around].format(row["text"].strip())}
        assert is_same(read(changed), row["gold"]), changed["text"]


@pytest.mark.parametrize("task", TASKS)
@given(text=st.text(max_size=300) | st.sampled_from([row["text"] for row in CORPUS]))
def test_no_text_breaks_a_reader(task: str, text: str) -> None:
    row = next(one for one in CORPUS if one["task"] == task)
    found = read({**row, "text": text})
    if task in {"action", "command"}:
        assert found is None or found in row.get("vocabulary", row.get("admissible"))
    elif isinstance(found, float):
        assert 0 <= found <= 1
