"""The same plan and seed give the same bytes, whatever runs beside what, and
wherever.
"""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gde.cli.main import build_app
from gde.runs.exporting import export

ENVIRONMENT = {"GDE_LOAD_PLUGINS": "gde.testing.plugin,odd_parts"}


def wanted(out: Path, *arguments: str, seed: int = 3) -> list[str]:
    return [
        "eval",
        "--out",
        str(out),
        "--seed",
        str(seed),
        "--metric",
        "success",
        *arguments,
    ]


def elsewhere(out: Path, *arguments: str, hash_seed: str) -> str:
    """The episodes of a run in a process of its own."""
    environment = {**os.environ, **ENVIRONMENT, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "gde", *wanted(out, *arguments)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return episodes(out)


def here(out: Path, *arguments: str, seed: int = 3) -> str:
    """Those of a run in this process, under whatever hash seed it has."""
    done = CliRunner().invoke(
        build_app(),
        wanted(out, *arguments, seed=seed),
        env=ENVIRONMENT,
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    return episodes(out)


def episodes(run: Path) -> str:
    text = StringIO()
    export(run, "jsonl", text)
    return text.getvalue()


@pytest.mark.parametrize(
    "parts",
    [
        (
            "--env",
            "grid",
            "--agent",
            "noisy",
            "--set",
            "agent.p=0.5",
            "--episodes",
            "12",
            "--set",
            "run.repeats=2",
        ),
        pytest.param(
            ("--env", "corridor", "--agent", "asking", "--episodes", "12"),
            marks=pytest.mark.extended,
        ),
    ],
)
def test_concurrency_workers_and_hash_seed_change_nothing(
    parts: tuple[str, ...], tmp_path: Path
) -> None:
    reference = elsewhere(tmp_path / "one", *parts, "--concurrency", "1", hash_seed="0")
    assert reference.count("\n") in {12, 24}
    many = elsewhere(tmp_path / "many", *parts, "--concurrency", "32", hash_seed="1")
    workers = here(tmp_path / "workers", *parts, "--executor", "processes")
    assert many == reference
    assert workers == reference
    other = here(tmp_path / "other", *parts, seed=4)
    assert other != reference
