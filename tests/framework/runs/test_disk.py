"""A disk that takes no more, and a folder that goes away, as a user meets them."""

import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

LIMIT = 200 * 1024
"""Bytes of a file: enough for the beginning of a run."""


def gde(*arguments: str, limited: bool = False) -> subprocess.Popen[str]:
    """The command, with files that cannot grow beyond the limit."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    command = [sys.executable, "-m", "gde", *arguments]
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, preexec_fn=limit if limited else None
    )


def evaluation(episodes: int, run: Path) -> list[str]:
    """The arguments of a run."""
    plan = ["eval", "--env", "grid", "--agent", "random", "--metric", "success"]
    return [*plan, "--episodes", str(episodes), "--out", str(run)]


def test_a_file_that_cannot_grow_stops_the_run_and_it_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    stopped = gde(*evaluation(100, run), limited=True)
    _, said = stopped.communicate()
    assert stopped.returncode == 3, said
    assert "cannot write the journal" in said and str(run) in said and "Traceback" not in said
    again = gde("resume", str(run))
    _, said = again.communicate()
    assert again.returncode == 0, said
    assert f"ok: {run}" in said


def test_a_folder_that_is_removed_is_named(tmp_path: Path) -> None:
    run = tmp_path / "run"
    going = gde(*evaluation(400, run))
    while not (run / "run.sqlite").exists() and going.poll() is None:
        time.sleep(0.01)
    run.rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    _, said = going.communicate()
    assert going.returncode == 3, said
    assert str(run) in said and "Traceback" not in said
