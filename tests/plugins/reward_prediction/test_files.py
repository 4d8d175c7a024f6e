"""The released format, from here and from elsewhere, and files that are something
else.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from gde.errors import GdeError
from gde_plugins.reward_prediction.files import (
    Pair,
    Record,
    Step,
    as_json,
    find_records,
    write_pair,
)


def record(*shaped: float, raw: float = 0.0) -> Record:
    steps = tuple(
        Step(
            action=f"act {i}",
            observation=f"s\u00e9en {i}",
            raw=raw,
            shaped=each,
            is_expert=True,
            admissible=("a", "b"),
        )
        for i, each in enumerate(shaped)
    )
    return Record(goal="reach it", start="begin", steps=steps, world={"size": 3})


def pair(index: int = 0) -> Pair:
    return Pair(
        domain="d",
        index=index,
        positive=record(0.5, 1, raw=1),
        negatives=(record(0, 0), record(0.25, 0)),
    )


def foreign(**change: Any) -> dict[str, Any]:
    step = {
        "action": "go",
        "observation": ["seen"],
        "reward": {"raw": -100, "shaped": 0.5, "is_expert": True},
    }
    return {"goal_description": "a goal", "trajectory": [step], "more": 1, **change}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    write_pair(pair(), tmp_path / "d" / "d-0000")
    *negatives, positive = find_records(tmp_path)
    assert (positive.task, positive.side, positive.read()) == (
        "d/d-0000",
        "positive",
        pair().positive,
    )
    assert [one.side for one in negatives] == ["negative"] * 2
    assert tuple(one.read() for one in negatives) == pair().negatives


def test_what_others_wrote_is_read(tmp_path: Path) -> None:
    for name in ("positive.json", "negative_0.json", "negative_12.json", "notes.json"):
        (tmp_path / name).write_text(json.dumps(foreign()), encoding="utf-8")
    found = [*find_records(tmp_path)]
    assert [file.path.name for file in found] == [
        "negative_0.json",
        "negative_12.json",
        "positive.json",
    ]
    read = found[0].read()
    assert (read.goal, read.start, read.world) == ("a goal", "", {})
    assert (read.steps[0].observation, read.steps[0].raw, read.steps[0].shaped) == (
        "seen",
        0.0,
        0.5,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps(foreign())[:-20], r"positive\.json:1: wanted JSON, got"),
        ("[]", "the record: wanted an object"),
        (
            json.dumps(foreign(trajectory=[])),
            r"trajectory: wanted 1 or more values, got \[\]",
        ),
        (json.dumps(foreign(goal_description="")), "goal_description"),
        (
            json.dumps({"goal_description": "g", "trajectory": [{"action": "x"}]}),
            "trajectory.0.observation: wanted a value",
        ),
        (json.dumps(foreign()).replace("0.5", "NaN"), "trajectory.0.reward.shaped"),
        (
            json.dumps(foreign()).replace('"action":', '"admissible": [0], "action":'),
            "must be places in `actions`",
        ),
    ],
    ids=[
        "cut off",
        "a list",
        "empty",
        "no goal",
        "no observation",
        "no number",
        "no action",
    ],
)
def test_files_that_are_something_else_say_where(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "positive.json").write_text(text, encoding="utf-8")
    (file,) = find_records(tmp_path)
    with pytest.raises(GdeError, match=message):
        file.read()


def test_the_released_fields_are_there() -> None:
    told: Any = as_json(record(1.0))
    assert {"goal_description", "trajectory"} <= told.keys()
    assert {"action", "observation", "reward"} <= told["trajectory"][0].keys()
    assert told["trajectory"][0]["reward"] == {
        "raw": 0.0,
        "shaped": 1.0,
        "is_expert": True,
    }
