"""A run that is in the midst of generating ends soon after a signal, and its folder can
be gone on with.
"""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended

LONGEST = 20.0
"""Seconds on a busy machine; on an idle one it takes less than two."""
WHERE = [
    "--env",
    "grid",
    "--set",
    "env.size=21",
    "--agent",
    "gpt-oss",
    "--set",
    "agent.style=paper",
]


@pytest.mark.parametrize(
    ("executor", "sent"),
    [
        ("serial", signal.SIGTERM),
        pytest.param("serial", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("processes", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("processes", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_a_run_that_generates(
    executor: str, sent: signal.Signals, tmp_path: Path
) -> None:
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        *WHERE,
        "--episodes",
        "16",
        "--executor",
        executor,
    ]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "run")], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    told = ""
    while "episodes" not in told:
        told = process.stderr.readline()
        assert told, process.wait()
    time.sleep(1.0 if executor == "serial" else 15.0)  # workers load the model first
    begun = time.monotonic()
    process.send_signal(sent)
    _, errors = process.communicate(timeout=120)
    assert time.monotonic() - begun < LONGEST
    assert process.returncode == 130
    assert f"resume with `gde resume {tmp_path / 'run'}`" in errors
    assert "Traceback" not in errors
