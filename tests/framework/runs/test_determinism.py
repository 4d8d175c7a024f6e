"""The same plan and seed give the same bytes, whatever runs beside what, and wherever."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from gde.runs.exporting import export

ENVIRONMENT = {"GDE_LOAD_PLUGINS": "gde.testing.plugin,odd_parts"}


def trajectories(out: Path, *arguments: str, seed: int = 3, hash_seed: str = "0") -> str:
    wanted = ("--out", str(out), "--seed", str(seed), "--metric", "success", *arguments)
    command = [sys.executable, "-m", "gde", "eval", *wanted]
    environment = {**os.environ, **ENVIRONMENT, "PYTHONHASHSEED": hash_seed}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    text = StringIO()
    export(out, "jsonl", text)
    return text.getvalue()


@pytest.mark.parametrize(
    "parts",
    [
        ("--env", "grid", "--agent", "noisy", "--set", "agent.p=0.5", "--episodes", "12", "--set", "run.repeats=2"),
        ("--env", "corridor", "--agent", "asking", "--episodes", "12"),
    ],
)
def test_concurrency_workers_and_hash_seed_change_nothing(parts: tuple[str, ...], tmp_path: Path) -> None:
    reference = trajectories(tmp_path / "one", *parts, "--concurrency", "1")
    assert reference.count("\n") in {12, 24}
    many = trajectories(tmp_path / "many", *parts, "--concurrency", "32", hash_seed="1")
    workers = trajectories(tmp_path / "workers", *parts, "--executor", "processes")
    assert many == reference
    assert workers == reference
    other = trajectories(tmp_path / "other", *parts, seed=4)
    assert other != reference
