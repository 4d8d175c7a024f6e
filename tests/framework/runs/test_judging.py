"""A reward model that is asked beside runs, and on the trajectories of a file."""

import asyncio
import json
import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import gde
from gde import Catalogue, GdeError, Plan, Transcript, UnknownName, evaluate
from gde.cli.main import build_app
from gde.runs.judged_file import read_rows
from gde.testing.parts import Corridor

STEPS = [("look", "a red block"), ("pick up", "you hold the red block")]
GOAL = "hold the red block"


def shared_words(goal: str, observation: str, action: str) -> float:
    return float(len({*goal.split()} & {*observation.split()}))


async def later(transcript: Transcript) -> list[float]:
    return [float(len(step.action)) for step in transcript.steps]


def test_a_function_is_asked_for_a_trajectory() -> None:
    reward = gde.reward_model(shared_words)
    assert reward(GOAL, STEPS).tolist() == [2, 4]


def test_it_is_asked_inside_an_event_loop_in_both_ways() -> None:
    reward = gde.reward_model(later)

    async def both() -> None:
        assert (await reward.ask(GOAL, STEPS)).tolist() == [4, 7]
        assert reward(GOAL, STEPS).tolist() == [4, 7]

    asyncio.run(both())


def test_an_agent_asks_it_in_a_run() -> None:
    reward = gde.reward_model(shared_words)

    class Planner:
        def act(self, observation: gde.Observation) -> str:
            values = {
                action: reward("RIGHT", [("", action)])[0]
                for action in observation.actions or ("LEFT", "RIGHT")
            }
            return max(values, key=lambda action: values[action])

    plan = Plan(environment=Corridor, agent=Planner, metrics=["success"], episodes=2)
    assert evaluate(plan).measurements[0].value == 1


def test_the_plan_of_a_run_takes_it_and_its_copies_are_itself() -> None:
    reward = gde.reward_model(shared_words)
    assert deepcopy(reward) is reward
    assert pickle.loads(pickle.dumps(reward))(GOAL, STEPS).tolist() == [2, 4]


def test_rules_of_an_offer_are_asked_with_settings() -> None:
    whole = gde.reward_model("statefactory")(GOAL, STEPS)
    cut = gde.reward_model("statefactory", decimals=1)(GOAL, STEPS)
    assert np.allclose(cut, np.trunc(whole * 10) / 10)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda transcript: [1.0], "wanted 2 rewards, one a step, got 1"),
        (
            lambda transcript: [1.0, float("nan")],
            "step 1: wanted a finite reward, got nan",
        ),
        (
            lambda transcript: [float("inf"), 0.0],
            "step 0: wanted a finite reward, got inf",
        ),
        (lambda transcript: "prose", "wanted one number a step, got 'prose'"),
        (lambda transcript: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_it_gives_is_checked_and_the_step_named(given: Any, message: str) -> None:
    with pytest.raises(GdeError, match=message):
        gde.reward_model(given)(GOAL, STEPS)


def test_a_reward_model_that_needs_the_truth_is_refused() -> None:
    with pytest.raises(GdeError, match="oracle needs"):
        gde.reward_model("oracle")


def test_an_unknown_kind_of_part_is_named() -> None:
    with pytest.raises(UnknownName, match="Did you mean reward_model"):
        Catalogue.default().find("reward model", "judge")


def test_it_refuses_steps_of_another_form() -> None:
    with pytest.raises(GdeError, match="step 1: wanted an action"):
        gde.reward_model(later)(GOAL, [("a", "b"), "c"])  # type: ignore[list-item]


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_file_is_judged_by_trajectory_or_by_step(tmp_path: Path) -> None:
    steps = [dict(zip(("action", "observation"), step, strict=True)) for step in STEPS]
    apart = [{"goal": GOAL, "id": "b", **step} for step in steps]
    path = written(tmp_path / "f.jsonl", {"goal": GOAL, "steps": steps}, *apart)
    done = CliRunner().invoke(
        build_app(), ["judge", str(path), "--reward", "words=statefactory"]
    )
    assert done.exit_code == 0, done.output
    found = [
        json.loads(line)
        for line in (tmp_path / "f.jsonl.words.jsonl").read_text().splitlines()
    ]
    assert [(each["id"], each["line"]) for each in found] == [("1", 1), ("b", 2)]
    assert found[0]["values"] == found[1]["values"]
    assert len(found[0]["values"]) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"goal": 1, "steps": []}, ":1: goal: wanted text, got 1"),
        ({"goal": "g", "steps": []}, ":1: wanted one step or more"),
        (
            {"goal": "g", "steps": [{"action": "a"}]},
            ":1: steps.0.observation: wanted a value, got none",
        ),
        ({"goal": "g", "action": "a"}, ":1: observation: wanted a value, got none"),
        ([1], ":1: the record: wanted"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(GdeError, match=message):
        read_rows(written(tmp_path / "f.jsonl", row))


def test_one_id_stands_for_one_trajectory(tmp_path: Path) -> None:
    row = {"goal": "g", "action": "a", "observation": "o"}
    rows = [{**row, "id": name} for name in ("a", "b", "a")]
    with pytest.raises(GdeError, match=":1: id 'a' stands for two"):
        read_rows(written(tmp_path / "f.jsonl", *rows))


def test_a_line_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    """JSON may hold a line separator as it is, and Windows ends lines by two."""
    row = {"goal": GOAL, "action": "go", "observation": "one\u2028two"}
    text = json.dumps(row, ensure_ascii=False)
    path = tmp_path / "f.jsonl"
    path.write_bytes(f"\ufeff{text}\r\n{text}\r\n".encode())
    rows = read_rows(path)
    assert [row.transcript.steps[0].observation for row in rows] == ["one\u2028two"] * 2
