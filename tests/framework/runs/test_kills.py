"""SIGKILL at random moments of every stage, the first ones included: nothing is lost,
the run ends as if undisturbed.

Many more in the nox session `faults`, where GDE_KILLS says how often and GDE_SEED which
moments.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from killed_works import WORKS, exit_code
from killing import CATALOGUE, MODULES, STAGES, Run, durations
from processes import started_by

from gde import Choice, How, Plan, evaluate, load_evidence, resume, write_plan
from gde.data.json import Json
from gde.errors import RunFolderError
from gde.runs.verifying import verify
from gde.store.lock import only_writer

KILLS, SEED = int(os.environ.get("GDE_KILLS", 0)), int(os.environ.get("GDE_SEED", 0))
RUNS = 20
"""Runs whose workers are killed."""
RAY = pytest.param(
    "ray", marks=pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")
)
ONLY_EPISODES: dict[str, Any] = {"probes": (), "rewards": (), "metrics": ["success"]}
"""What of a plan is of no use where workers are killed."""
WORKERS = {"serial": 1, "processes": 2, "ray": 2}
pytestmark = [
    pytest.mark.skipif(not KILLS, reason="nox -s faults"),
    pytest.mark.timeout(0),
]


def plan(log: Path) -> Plan:
    return Plan(
        environment="long-corridor",
        agent="asking-logged",
        models=[Choice(name="", config={"log": str(log), "pause": 0.002})],
        probes=["where"],
        rewards=[Choice(name="progress-judge", config={"model": f"noted:{log}.judge"})],
        metrics=["success", "accuracy"],
        episodes=12,
    )


def by(executor: str, config: dict[str, Json] | None = None) -> How:
    choice = Choice(name=executor, config=config or {})
    return How(concurrency=4, executor=choice)


@pytest.fixture(scope="module")
def counted() -> Iterator[Counter[str]]:
    """All kills by what was killed; the sum is told at the end."""
    found = Counter[str]()
    yield found
    print(f"{found.total()} kills in all: {dict(found)}")  # noqa: T201


@contextmanager
def cluster(executor: str) -> Iterator[dict[str, Json]]:
    """The configuration of an executor; of `ray` one cluster for all runs."""
    if executor != "ray":
        yield {}
        return
    # It says how Ray is to start workers, which Ray reads when it is imported.
    import_module("gde_plugins.executors.ray.cluster")
    from ray.cluster_utils import Cluster

    nodes = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False}
    )
    try:
        yield {"address": nodes.address, "cpus": 1}
    finally:
        nodes.shutdown()


def outcome(run: Path) -> tuple[object, ...]:
    """All that a run has recorded."""
    found = load_evidence(run, CATALOGUE)
    traces = [
        (one.model, one.episode, one.values.tolist(), one.failure)
        for one in found.reward_traces
    ]
    reports = [
        (one.fit, one.measurements, one.rows, one.decoded.tolist())
        for one in found.probe_reports
    ]
    return [*found.trajectories], sorted(traces), reports


def asked_again(log: Path) -> tuple[int, int]:
    """Requests more than once, of the agent and of the judge."""
    agent = (
        Counter(line.split()[1] for line in log.read_text().splitlines())
        if log.exists()
        else Counter()
    )
    judge = Path(f"{log}.judge")
    judged = Counter(judge.read_text().splitlines()) if judge.exists() else Counter()
    return sum(n - 1 for n in agent.values()), sum(n - 1 for n in judged.values())


@pytest.mark.filterwarnings("ignore")  # of Ray
@pytest.mark.parametrize("executor", ["serial", "processes", RAY])
def test_runs_that_are_killed_again_and_again(
    executor: str, tmp_path: Path, counted: Counter[str]
) -> None:
    rng, killed, late = random.Random(f"{executor} {SEED}"), Counter[str](), 0
    undisturbed = evaluate(
        plan(tmp_path / "undisturbed.log"),
        tmp_path / "undisturbed",
        CATALOGUE,
        how=by("serial"),
    )
    expected, within = outcome(tmp_path / "undisturbed"), 4 * WORKERS[executor]
    with cluster(executor) as config:
        seconds = durations(
            plan(tmp_path / "timed.log"), tmp_path / "timed", by(executor, config)
        )
        for i in range(10**9):
            if killed.total() >= KILLS:
                break
            out, kills = tmp_path / f"run{i}", 0
            request = plan(tmp_path / f"{out.name}.log")
            how = by(executor, config)
            for _ in range(rng.randint(1, 3)):
                run, stage = Run(request, out, how), rng.choice(STAGES)
                run.reach(stage)
                time.sleep(rng.uniform(0, seconds[stage]))
                aim = rng.random()
                if (
                    stage == "rollout"
                    and executor == "processes"
                    and aim < 0.5
                    and (workers := run.workers())
                ):
                    stage = "a worker"
                    kill_worker(rng.choice(workers))
                    assert run.end() == 0, run.refusal
                    kills += 1
                    killed[stage] += 1
                elif run.kill():
                    kills += 1
                    killed[stage] += 1
                else:
                    assert run.process.exitcode == 0, run.refusal
                    late += 1
                wait_for_orphans(out)
            if (out / "plan.toml").is_file():
                assert verify(out) == ()
                assert resume(out, CATALOGUE).measurements == undisturbed.measurements
                assert outcome(out) == expected
                agent, judge = asked_again(tmp_path / f"{out.name}.log")
                assert agent <= kills * within and judge <= kills * 4, (
                    agent,
                    judge,
                    kills,
                )
            print(  # noqa: T201
                f"\r{executor}, seed {SEED}: {killed.total()} kills {dict(killed)}, {late} too late",
                end="",
            )
    counted[executor] += killed.total()
    print()  # noqa: T201 - the figures for docs/faults.md


def kill_worker(pid: int) -> None:
    """It may have ended by itself."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.filterwarnings("ignore")  # of Ray
@pytest.mark.parametrize("executor", ["processes", RAY])
def test_workers_that_are_killed(
    executor: str, tmp_path: Path, counted: Counter[str]
) -> None:
    """Whoever ends workers from outside costs a run nothing but time."""
    rng, killed_of = random.Random(f"workers {executor} {SEED}"), []
    played = replace(plan(tmp_path / "undisturbed.log"), **ONLY_EPISODES)
    undisturbed = evaluate(
        played, tmp_path / "undisturbed", CATALOGUE, how=by("serial")
    )
    expected = outcome(tmp_path / "undisturbed")
    with cluster(executor) as config:
        for i in range(RUNS):
            out = tmp_path / f"run{i}"
            request = plan(tmp_path / f"run{i}.log")
            how = by(executor, config)
            run = Run(replace(request, **ONLY_EPISODES), out, how)
            run.reach("rollout")
            kills = 0
            while run.process.is_alive() and kills < -(-KILLS // RUNS):
                time.sleep(rng.uniform(0, 0.5))
                if workers := working(run, executor):
                    kill_worker(rng.choice(workers))
                    kills += 1
            assert run.end() == 0, run.refusal
            assert outcome(out) == expected
            result = resume(out, CATALOGUE)
            assert (result.status, result.failures) == ("ok", ())
            assert result.measurements == undisturbed.measurements
            killed_of.append(kills)
    counted[f"workers of {executor}"] += sum(killed_of)
    print(f"workers, {executor}, seed {SEED}: {sum(killed_of)} kills in {RUNS} runs")  # noqa: T201


def working(run: Run, executor: str) -> list[int]:
    """The processes that play episodes."""
    if executor != "ray":
        return run.workers()
    found = []
    for pid in started_by(os.getpid()):
        with suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::work"):
                found.append(pid)
    return found


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_two_resumes_at_once(
    executor: str, tmp_path: Path, counted: Counter[str]
) -> None:
    """After a kill, two go on at once: one of them holds the folder, the other is
    refused or finds it finished.
    """
    rng, ends, killed = (
        random.Random(f"two {executor} {SEED}"),
        Counter[str](),
        Counter[str](),
    )
    undisturbed = evaluate(
        plan(tmp_path / "undisturbed.log"),
        tmp_path / "undisturbed",
        CATALOGUE,
        how=by("serial"),
    )
    expected = outcome(tmp_path / "undisturbed")
    how = by(executor)
    seconds = durations(plan(tmp_path / "timed.log"), tmp_path / "timed", how)
    for i in range(-(-KILLS // 3)):
        out, stage = tmp_path / f"run{i}", rng.choice(STAGES[1:])
        request = plan(tmp_path / f"{out.name}.log")
        run = Run(request, out, how)
        run.reach(stage)
        time.sleep(rng.uniform(0, seconds[stage]))
        killed[stage] += run.kill()
        wait_for_orphans(out)
        both = [Run(request, out, how), Run(request, out, how)]
        if (
            rng.random() < 0.5
        ):  # one of them, or whoever holds the folder, is killed as well
            time.sleep(rng.uniform(0, sum(seconds.values())))
            killed["one of two"] += both[0].kill()
        codes = [each.end() for each in both]
        for each, code in zip(both, codes, strict=True):
            assert code in (0, -signal.SIGKILL) or (
                code == 2 and "is being written by" in each.refusal
            )
        ends[" and ".join(map(str, sorted(codes)))] += 1
        wait_for_orphans(out)
        assert verify(out) == ()
        assert resume(out, CATALOGUE).measurements == undisturbed.measurements
        assert outcome(out) == expected
    counted[f"resumes, {executor}"] += killed.total()
    print(f"two resumes, {executor}, seed {SEED}: {dict(ends)}, kills {dict(killed)}")  # noqa: T201


def test_the_command_is_killed_before_it_has_begun(
    tmp_path: Path, counted: Counter[str]
) -> None:
    """The whole of `gde eval`, in its first moments and around the time at which it
    makes its folder.
    """
    rng, made = random.Random(f"command {SEED}"), Counter[bool]()
    for i in range(-(-KILLS // 20)):
        out, file = tmp_path / f"run{i}", tmp_path / f"run{i}.toml"
        file.write_text(write_plan(plan(tmp_path / f"run{i}.log")))
        command = [
            sys.executable,
            "-m",
            "gde",
            "eval",
            "--plan",
            str(file),
            "--out",
            str(out),
        ]
        environment = {**os.environ, "GDE_LOAD_PLUGINS": ",".join(MODULES)}
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        soon = rng.random() < 0.5
        while not soon and not out.is_dir():
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.1))
        process.kill()
        process.wait()
        made[out.is_dir()] += 1
        if out.is_dir():
            assert verify(out) == ()
            assert resume(out, CATALOGUE).status == "ok"
    counted["command"] += made.total()
    print(  # noqa: T201
        f"the command, seed {SEED}: {made[False]} before its folder was there, {made[True]} after"
    )


@pytest.mark.parametrize("name", WORKS)
def test_other_works_that_are_killed(
    name: str, tmp_path: Path, counted: Counter[str]
) -> None:
    """A killed command leaves nothing by the name of its output, or all of it, and the
    next one gives what an undisturbed one does.
    """
    rng, found = random.Random(f"{name} {SEED}"), Counter[str]()
    give, work, made = WORKS[name]
    (tmp_path / "whole").mkdir()
    give(tmp_path / "whole", random.Random(0))
    began = time.monotonic()
    assert exit_code(work, tmp_path / "whole", 600) == 0
    seconds = time.monotonic() - began

    for number in range(-(-KILLS // len(WORKS))):
        place = tmp_path / str(number)
        place.mkdir()
        give(place, rng)
        kept = (place / made).exists()
        while exit_code(work, place, rng.uniform(0, seconds)) == 0:
            found["too late"] += 1
            if not kept:
                remove(place / made)
        found["nothing" if not (place / made).exists() else "all"] += 1
        if not (place / made).exists():
            assert exit_code(work, place, 600) == 0
        if name == "report":
            # A report that is being written is none that gde has finished.
            work(place)
        if (place / made).is_dir():
            # Frozen runs come without their activations.
            faults = [
                each for each in verify(place / made) if "activations" not in each
            ]
            assert faults == []
            runs = [load_evidence(each / made) for each in (place, tmp_path / "whole")]
            ours, undisturbed = [[*each.trajectories] for each in runs]
            assert ours == undisturbed
        elif name != "export parquet":
            assert (place / made).read_bytes() == (
                tmp_path / "whole" / made
            ).read_bytes()
        shutil.rmtree(place)
    counted[name] += found["nothing"] + found["all"]
    print(f"{name}, seed {SEED}: {dict(found)}")  # noqa: T201 - for docs/faults.md


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def wait_for_orphans(out: Path) -> None:
    """Workers end with their parent, within their grace."""
    for _ in range(300):
        if not out.is_dir():
            return
        try:
            with only_writer(out):
                return
        except RunFolderError:
            time.sleep(0.1)
