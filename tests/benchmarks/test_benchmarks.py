"""Every benchmark runs to its end at its smallest size and prints its figures."""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

FOLDER = Path(__file__).parents[2] / "benchmarks"
NAMES = sorted(path.stem for path in FOLDER.glob("bench_*.py"))
OURS = ("gde", "gde_plugins", "bench_", "sizes", "prompts", "sparse_peers")


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_runs_at_its_smallest(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In this process, because the imports of a fresh one would take most of the time.
    monkeypatch.setenv("GDE_BENCH_SMALL", "1")
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.syspath_prepend(FOLDER)
    try:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    except ModuleNotFoundError as error:
        if str(error.name).startswith(OURS):
            raise
        pytest.skip(f"needs {error.name}, which is not installed")
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    if "skipped" in figures:
        pytest.skip(figures["skipped"])
    assert figures


def test_the_soak_leaves_no_process_behind() -> None:
    # In a process of its own: it counts the children that are left.
    command = [sys.executable, str(FOLDER / "soak_text_worlds.py")]
    environment = {**os.environ, "GDE_BENCH_SMALL": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr + done.stdout
    assert json.loads(done.stdout)
