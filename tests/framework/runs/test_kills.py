"""SIGKILL at random moments, the first ones included: nothing is lost, and the run ends as if undisturbed.

Runs in the nox session `faults`; GDE_KILLS says how often.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from gde import Choice, Plan, evaluate, load_evidence, resume, write_plan
from gde.request.catalogue import Catalogue
from gde.runs.verifying import verify

KILLS = int(os.environ.get("GDE_KILLS", 0))
LONGEST = {"serial": 3.0, "processes": 3.0, "ray": 30.0}
"""Seconds after which the process is killed, at most; on an idle core it is done after two thirds of them."""
RAY = pytest.param("ray", marks=pytest.mark.skipif(find_spec("ray") is None, reason="needs ray"))


def plan(log: Path, executor: str) -> Plan:
    return Plan(
        environment="long-corridor",
        agent="asking-logged",
        language_model={"log": str(log), "pause": 0.005},
        probes=["where"],
        metrics=["success", "accuracy"],
        episodes=12,
        concurrency=4,
        executor=Choice(name=executor),
    )


def start(request: Plan, out: Path) -> subprocess.Popen[bytes]:
    file = out.parent / f"{out.name}.toml"
    file.write_text(write_plan(request))
    command = [sys.executable, "-m", "gde", "eval", "--plan", str(file), "--out", str(out)]
    if (out / "plan.toml").is_file():
        command = [sys.executable, "-m", "gde", "resume", str(out)]
    environment = {**os.environ, "GDE_LOAD_PLUGINS": "gde.testing.plugin,odd_parts"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.skipif(not KILLS, reason="nox -s faults")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("executor", ["serial", "processes", RAY])
def test_runs_that_are_killed_again_and_again(executor: str, tmp_path: Path, catalogue: Catalogue) -> None:
    rng, killed, points = random.Random(executor), 0, Counter[str]()
    undisturbed = evaluate(plan(tmp_path / "undisturbed.log", "serial"), tmp_path / "undisturbed", catalogue)
    expected = load_evidence(tmp_path / "undisturbed", catalogue)
    while killed < KILLS:
        out = tmp_path / f"run{killed}"
        request = plan(tmp_path / f"{out.name}.log", executor)
        for _ in range(rng.randint(1, 3)):
            process = start(request, out)
            time.sleep(rng.choice([rng.uniform(0, 0.1), rng.uniform(0, LONGEST[executor])]))
            process.send_signal(signal.SIGKILL)
            _, errors = process.communicate(timeout=30)
            points["in time" if process.returncode == -signal.SIGKILL else "too late"] += 1
            assert process.returncode in (-signal.SIGKILL, 0), errors.decode()
            killed += process.returncode == -signal.SIGKILL
        wait_for_orphans(out)
        if (out / "plan.toml").is_file():
            assert verify(out) == ()
            result = resume(out, catalogue)
            assert result.measurements == undisturbed.measurements
            evidence = load_evidence(out, catalogue)
            assert list(evidence.trajectories) == list(expected.trajectories)
            asked = Counter(line.split()[1] for line in (tmp_path / f"{out.name}.log").read_text().splitlines())
            most = 3 * 2 * request.concurrency
            assert sum(n - 1 for n in asked.values()) <= most  # only what was in flight is asked again
    print(f"{executor}: {dict(points)}")  # noqa: T201 - the figure for docs/faults.md


@pytest.mark.skipif(not KILLS, reason="nox -s faults")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_two_resumes_at_once(executor: str, tmp_path: Path, catalogue: Catalogue) -> None:
    """After a kill, two go on at once: one of them holds the folder, the other is refused or finds it finished."""
    rng, ends = random.Random(executor), Counter[int]()
    undisturbed = evaluate(plan(tmp_path / "undisturbed.log", "serial"), tmp_path / "undisturbed", catalogue)
    expected = load_evidence(tmp_path / "undisturbed", catalogue)
    for i in range(-(-KILLS // 5)):
        out = tmp_path / f"run{i}"
        request = plan(tmp_path / f"{out.name}.log", executor)
        process = start(request, out)
        while not (out / "plan.toml").is_file():
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 1))
        process.kill()
        process.communicate(timeout=30)
        wait_for_orphans(out)
        both = [start(request, out), start(request, out)]
        said = [process.communicate(timeout=300)[1].decode() for process in both]
        ends.update(process.returncode for process in both)
        for process, errors in zip(both, said, strict=True):
            assert process.returncode == 0 or (process.returncode == 2 and "is being written by process" in errors)
        assert 0 in {process.returncode for process in both}
        assert verify(out) == ()
        assert list(load_evidence(out, catalogue).trajectories) == list(expected.trajectories)
        assert resume(out, catalogue).measurements == undisturbed.measurements
    print(f"two resumes, {executor}: {dict(ends)}")  # noqa: T201 - the figure for docs/faults.md


def wait_for_orphans(out: Path) -> None:
    """Workers end with their parent, within their grace."""
    from gde.store.atomic import only_writer

    with suppress(FileNotFoundError):
        for _ in range(100):
            if not out.is_dir():
                return
            with only_writer(out):
                time.sleep(0.1)
                return
