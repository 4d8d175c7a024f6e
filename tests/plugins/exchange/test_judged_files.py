"""A reward model on the trajectories of a file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde import GdeError
from gde.cli.main import build_app
from gde_plugins.exchange.judged_file import read_rows

STEPS = [("look", "a red block"), ("pick up", "you hold the red block")]
GOAL = "hold the red block"


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
