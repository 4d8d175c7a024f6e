"""Runs that were recorded come out the same, to the byte of what is observed and the
digit of what is measured.

A line of recorded_runs.json holds a plan, and of each turn state, status, action,
optimal actions, value, reward and the hash of the observation; of each completion the
answer and hashes of reasoning and tokens. Whoever changes results on purpose raises the
version of the offer and records anew; bounds of shares that had been 0 or 1 against
what was seen are such a change.
"""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gde import Choice, Evidence, Plan, Trajectory, evaluate, load_evidence

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "recorded_runs.json").read_text(encoding="utf-8")
)


@cache
def again(name: str, folder: Path) -> tuple[Evidence, list[Any]]:
    """The evidence and the measurements of the plan, run now."""
    told = RECORDED[name]["plan"]
    (env, settings), (agent, config) = told["environment"], told["agent"]
    plan = Plan(
        environment=Choice(name=env, config=settings),
        agent=Choice(name=agent, config=config),
        episodes=told["episodes"],
        repeats=told["repeats"],
        metrics=told["metrics"],
    )
    result = evaluate(plan, folder / name)
    return load_evidence(folder / name), [
        json.loads(json.dumps(shown(one))) for one in result.measurements
    ]


def shown(one: Any) -> list[Any]:
    return [one.name, dict(one.where), one.value, one.interval, one.n]


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:8]


def written(trajectory: Trajectory) -> dict[str, Any]:
    turns = [
        [
            turn.state.index if turn.state else None,
            turn.decision.status,
            turn.decision.action,
            None if turn.optimal is None else list(turn.optimal),
            turn.value,
            turn.reward,
            digest(turn.observation.text.encode()),
        ]
        for turn in trajectory.turns
    ]
    return {"world": trajectory.world.id, "seed": trajectory.seed, "turns": turns}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded")


@pytest.mark.parametrize("name", RECORDED)
def test_the_episodes_are_those_of_the_record(name: str, folder: Path) -> None:
    if name == "nano":
        pytest.importorskip("torch")
    evidence, _ = again(name, folder)
    assert {str(one.key): written(one) for one in evidence.trajectories} == RECORDED[
        name
    ]["episodes"]


@pytest.mark.parametrize("name", RECORDED)
def test_the_measurements_are_those_of_the_record(name: str, folder: Path) -> None:
    if name == "nano":
        pytest.importorskip("torch")
    _, measured = again(name, folder)
    assert measured == RECORDED[name]["measurements"]


def test_the_model_says_what_it_said(folder: Path) -> None:
    pytest.importorskip("torch")
    evidence, _ = again("nano", folder)
    completions = [
        turn.decision.completion for one in evidence.trajectories for turn in one.turns
    ]
    said = [
        [
            each.text,
            digest((each.reasoning or "").encode()),
            digest(tokens(each.tokens)),
        ]
        for each in completions
        if each is not None
    ]
    assert said == RECORDED["nano"]["completions"]


def tokens(ids: tuple[int, ...]) -> bytes:
    return b"".join(each.to_bytes(4, "little", signed=True) for each in ids)
