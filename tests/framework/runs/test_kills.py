"""SIGKILL at random moments of every stage, the first ones included: nothing is lost,
the run ends as if undisturbed.

Many more in the nox session `faults`, where GDE_KILLS says how often and GDE_SEED which
moments.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from killing import CATALOGUE, MODULES, SERVER, STAGES, Run, durations
from processes import started_by

from gde import Choice, Plan, evaluate, load_evidence, report, resume, write_plan
from gde.bridges.lm_eval_logs import read_lm_eval
from gde.cli.main import main
from gde.data.json import Json
from gde.errors import RunFolderError
from gde.runs.importing import import_log
from gde.runs.verifying import verify
from gde.store import migration, schema
from gde.store.lock import only_writer

KILLS, SEED = int(os.environ.get("GDE_KILLS", 0)), int(os.environ.get("GDE_SEED", 0))
RUNS = 20
"""Runs whose workers are killed."""
RAY = pytest.param(
    "ray", marks=pytest.mark.skipif(find_spec("ray") is None, reason="needs ray")
)
WORKERS = {"serial": 1, "processes": 2, "ray": 2}
pytestmark = [
    pytest.mark.skipif(not KILLS, reason="nox -s faults"),
    pytest.mark.timeout(0),
]


def plan(log: Path, executor: str, config: dict[str, Json] | None = None) -> Plan:
    return Plan(
        environment="long-corridor",
        agent="asking-logged",
        models=[Choice(name="", config={"log": str(log), "pause": 0.002})],
        probes=["where"],
        rewards=[Choice(name="progress-judge", config={"model": f"noted:{log}.judge"})],
        metrics=["success", "accuracy"],
        episodes=12,
        concurrency=4,
        executor=Choice(name=executor, config=config or {}),
    )


@contextmanager
def cluster(executor: str) -> Iterator[dict[str, Json]]:
    """The configuration of an executor; of `ray` one cluster for all runs."""
    if executor != "ray":
        yield {}
        return
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
def test_runs_that_are_killed_again_and_again(executor: str, tmp_path: Path) -> None:
    rng, killed, late = random.Random(f"{executor} {SEED}"), Counter[str](), 0
    undisturbed = evaluate(
        plan(tmp_path / "undisturbed.log", "serial"),
        tmp_path / "undisturbed",
        CATALOGUE,
    )
    expected, within = outcome(tmp_path / "undisturbed"), 4 * WORKERS[executor]
    with cluster(executor) as config:
        seconds = durations(
            plan(tmp_path / "timed.log", executor, config), tmp_path / "timed"
        )
        for i in range(10**9):
            if killed.total() >= KILLS:
                break
            out, kills = tmp_path / f"run{i}", 0
            request = plan(tmp_path / f"{out.name}.log", executor, config)
            for _ in range(rng.randint(1, 3)):
                run, stage = Run(request, out), rng.choice(STAGES)
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
    print()  # noqa: T201 - the figures for docs/faults.md


def kill_worker(pid: int) -> None:
    """It may have ended by itself."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


@pytest.mark.filterwarnings("ignore")  # of Ray
@pytest.mark.parametrize("executor", ["processes", RAY])
def test_workers_that_are_killed(executor: str, tmp_path: Path) -> None:
    """Whoever ends workers from outside costs a run nothing but time."""
    rng, killed_of = random.Random(f"workers {executor} {SEED}"), []
    undisturbed = evaluate(
        plan(tmp_path / "undisturbed.log", "serial"),
        tmp_path / "undisturbed",
        CATALOGUE,
    )
    expected = outcome(tmp_path / "undisturbed")
    with cluster(executor) as config:
        for i in range(RUNS):
            out = tmp_path / f"run{i}"
            run = Run(plan(tmp_path / f"run{i}.log", executor, config), out)
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
def test_two_resumes_at_once(executor: str, tmp_path: Path) -> None:
    """After a kill, two go on at once: one of them holds the folder, the other is
    refused or finds it finished.
    """
    rng, ends, killed = (
        random.Random(f"two {executor} {SEED}"),
        Counter[str](),
        Counter[str](),
    )
    undisturbed = evaluate(
        plan(tmp_path / "undisturbed.log", "serial"),
        tmp_path / "undisturbed",
        CATALOGUE,
    )
    expected = outcome(tmp_path / "undisturbed")
    seconds = durations(plan(tmp_path / "timed.log", executor), tmp_path / "timed")
    for i in range(-(-KILLS // 3)):
        out, stage = tmp_path / f"run{i}", rng.choice(STAGES[1:])
        request = plan(tmp_path / f"{out.name}.log", executor)
        run = Run(request, out)
        run.reach(stage)
        time.sleep(rng.uniform(0, seconds[stage]))
        killed[stage] += run.kill()
        wait_for_orphans(out)
        both = [Run(request, out), Run(request, out)]
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
    print(f"two resumes, {executor}, seed {SEED}: {dict(ends)}, kills {dict(killed)}")  # noqa: T201


def test_the_command_is_killed_before_it_has_begun(tmp_path: Path) -> None:
    """The whole of `gde eval`, in its first moments and around the time at which it
    makes its folder.
    """
    rng, made = random.Random(f"command {SEED}"), Counter[bool]()
    for i in range(-(-KILLS // 20)):
        out, file = tmp_path / f"run{i}", tmp_path / f"run{i}.toml"
        file.write_text(write_plan(plan(tmp_path / f"run{i}.log", "serial")))
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
    print(  # noqa: T201
        f"the command, seed {SEED}: {made[False]} before its folder was there, {made[True]} after"
    )


EARLIER = Path(__file__).parents[1] / "store/earlier"
EXPORTED = {"csv": "out.csv", "jsonl": "out.jsonl", "parquet": "out.parquet"}
SAMPLES = 200
"""Samples of the imported log."""


def import_a_log(place: Path) -> None:
    import_log(read_lm_eval(place / "samples_sums.jsonl"), place / "out")


def export_a_run(form: str, place: Path) -> None:
    out = str(place / EXPORTED[form])
    sys.argv = ["gde", "export", str(place / "run"), "--format", form, "--out", out]
    main()


def bring_forward(place: Path) -> None:
    resume(place / "run", CATALOGUE)


def report_a_run(place: Path) -> None:
    report(place / "run", catalogue=CATALOGUE)


def earlier_run(place: Path, rng: random.Random) -> None:
    """A run of an earlier schema."""
    name = f"schema{rng.randint(migration.OLDEST, schema.VERSION - 1)}"
    (place / "run").mkdir()
    shutil.copyfile(EARLIER / f"{name}.toml", place / "run/plan.toml")
    with closing(sqlite3.connect(place / "run/run.sqlite")) as connection:
        connection.executescript((EARLIER / f"{name}.sql").read_text())
    if (EARLIER / f"{name}.head").exists():
        shutil.copyfile(EARLIER / f"{name}.head", place / "run/run.head")


def whole_run(place: Path, _: random.Random) -> None:
    request = Plan(
        environment="corridor", agent="scripted", metrics=["success"], episodes=40
    )
    evaluate(request, place / "run", CATALOGUE)


def log_to_import(place: Path, _: random.Random) -> None:
    lines = []
    for number in range(SAMPLES):
        lines.append(
            json.dumps({**SAMPLE, "doc_id": number, "doc_hash": f"{number:064x}"})
        )
    (place / "samples_sums.jsonl").write_text("\n".join(lines))


SAMPLE: dict[str, Json] = {
    "arguments": [["1 + 1?", {}]],
    "resps": [["2"]],
    "filtered_resps": ["2"],
    "filter": "none",
    "metrics": ["acc"],
    "acc": 1.0,
}
Work = Callable[[Path], None]
Given = Callable[[Path, random.Random], None]
WORKS: dict[str, tuple[Given, Work, str]] = {
    "import": (log_to_import, import_a_log, "out"),
    "export csv": (whole_run, partial(export_a_run, "csv"), EXPORTED["csv"]),
    "export jsonl": (whole_run, partial(export_a_run, "jsonl"), EXPORTED["jsonl"]),
    "export parquet": (
        whole_run,
        partial(export_a_run, "parquet"),
        EXPORTED["parquet"],
    ),
    "migration": (earlier_run, bring_forward, "run-copy"),
    "report": (whole_run, report_a_run, "run"),
}
"""What is given, what is done with it, and what that makes."""


@pytest.mark.parametrize("name", WORKS)
def test_other_works_that_are_killed(name: str, tmp_path: Path) -> None:
    """A killed command leaves nothing by the name of its output, or all of it, and the
    next one gives what an undisturbed one does.
    """
    rng, found = random.Random(f"{name} {SEED}"), Counter[str]()
    give, work, made = WORKS[name]
    (tmp_path / "whole").mkdir()
    give(tmp_path / "whole", random.Random(0))
    began = time.monotonic()
    assert killed(work, tmp_path / "whole", 600) == 0
    seconds = time.monotonic() - began

    for number in range(-(-KILLS // len(WORKS))):
        place = tmp_path / str(number)
        place.mkdir()
        give(place, rng)
        kept = (place / made).exists()
        while killed(work, place, rng.uniform(0, seconds)) == 0:
            found["too late"] += 1
            if not kept:
                remove(place / made)
        found["nothing" if not (place / made).exists() else "all"] += 1
        if not (place / made).exists():
            assert killed(work, place, 600) == 0
        if name == "report":
            # A report that is being written is none that gde has finished.
            work(place)
        if (place / made).is_dir():
            assert verify(place / made) == ()
            runs = [load_evidence(each / made) for each in (place, tmp_path / "whole")]
            ours, undisturbed = [[*each.trajectories] for each in runs]
            assert ours == undisturbed or name == "migration"
        elif name != "export parquet":
            assert (place / made).read_bytes() == (
                tmp_path / "whole" / made
            ).read_bytes()
        shutil.rmtree(place)
    print(f"{name}, seed {SEED}: {dict(found)}")  # noqa: T201 - for docs/faults.md


def killed(work: Work, place: Path, seconds: float) -> int:
    """The exit code of some work that is killed after so many seconds."""
    SERVER.set_forkserver_preload(["__main__", __name__])
    process = SERVER.Process(target=work, args=(place,))
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


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
