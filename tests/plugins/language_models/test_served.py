"""A real server over HTTP: nano behind `transformers serve` plays and activates as nano
in this process does.
"""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from gde import Choice, Plan, evaluate, load_evidence
from gde.data.completion import Effort
from gde_plugins.language_models.nano import folder

pytestmark = [pytest.mark.slow, pytest.mark.outside, pytest.mark.timeout(900)]
FOLDER = folder()
SERVE = "from transformers.cli.transformers import main; main()"


@pytest.fixture(scope="module", params=["low", "medium"])
def effort(request: pytest.FixtureRequest) -> Effort:
    asked: Effort = request.param
    return asked


@pytest.fixture(scope="module")
def url(effort: Effort) -> Iterator[str]:
    """Where it is served. The server takes no effort from a request, but one for
    all.
    """
    pytest.importorskip("fastapi")
    pytest.importorskip("accelerate")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-c",
        SERVE,
        "serve",
        str(FOLDER),
        "--port",
        str(port),
        "--host",
        "127.0.0.1",
    ]
    command += ["--chat-template-kwargs", json.dumps({"reasoning_effort": effort})]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    server = subprocess.Popen(
        [*command, "--device", "cpu"], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(600):
            try:
                urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except URLError:
                assert server.poll() is None
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def test_a_served_model_plays_as_it_does_here(
    url: str, effort: Effort, tmp_path: Path
) -> None:
    config = {
        "style": "compact",
        "temperature": 0.0,
        "max_tokens": 300,
        "effort": effort,
    }
    grid = Choice(name="grid", config={"size": 7})
    here = Plan(
        environment=grid,
        agent=Choice(name="gpt-oss", config=config),
        probes=[Choice(name="cogmap", config={"positions": ["pre"]})],
        metrics=["success"],
        episodes=3,
    )
    served = Choice(
        name="gpt-oss", config={**config, "model": f"openai:{FOLDER}@{url}"}
    )
    read = Choice(name="cogmap", config={"positions": ["pre"], "weights": "nano"})
    results = [
        evaluate(here, tmp_path / "here"),
        evaluate(replace(here, agent=served, probes=[read]), tmp_path / "served"),
    ]
    answers = [
        [
            (
                turn.decision.action,
                turn.decision.completion.text,
                turn.decision.completion.reasoning,
            )
            for episode in load_evidence(tmp_path / name).trajectories
            for turn in episode.turns
            if turn.decision.completion
        ]
        for name in ("here", "served")
    ]
    assert answers[0] == answers[1]
    assert len(answers[0]) > 3
    # The server gives text alone, and counts of its tokens.
    assert [each.status for each in results] == ["ok", "ok"], results[1].failures
    assert results[0].measurements == results[1].measurements
    assert all(bool(reasoning) == (effort != "low") for *_, reasoning in answers[0])
