"""Work in leases: workers that are started and that join, leave, die and stand still cost nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from own_parts import Slow, long_corridor, mined, process_of, wait_long

from gde import Choice, GdeError, Plan, RunFailed, evaluate, load_evidence
from gde.errors import RunFolderError
from gde.executors.executors import LeasesConfig
from gde.executors.joining import join, meeting_place, work
from gde.executors.leases import Leases
from gde.request.catalogue import Catalogue, load_plugins
from gde.stages.budget import spent_before
from gde.stages.progress import Watch, ignore
from gde.store.folder import RunFolder
from gde.store.journal import Journal
from gde.testing import check_executor

KIT = "gde.testing.plugin"
WORK = "import sys; from pathlib import Path; from gde.executors.joining import join; join(Path(sys.argv[1]))"


def plan(workers: int, **changes: Any) -> Plan:
    executor = Choice(name="leases", config={"workers": workers, "leases": 4, "seconds": 3.0})
    request = Plan(environment=long_corridor, agent=Slow, metrics=["success"], episodes=12, executor=executor)
    return replace(request, concurrency=2, **changes)


def record(run: Path) -> list[Any]:
    return list(load_evidence(run).trajectories)


def joiner(run: Path) -> subprocess.Popen[str]:
    while not (run / ".writer").is_file() or not meeting_place(os.getpid()).exists():
        time.sleep(0.02)
    return subprocess.Popen([sys.executable, "-c", WORK, str(run)], stderr=subprocess.PIPE, text=True)


@contextmanager
def evaluating(request: Plan, out: Path, watch: Watch = ignore) -> Iterator[list[Any]]:
    """While the context lasts the run goes on in another thread; then it has ended, and its result is there."""
    results: list[Any] = []

    def work() -> None:
        try:
            results.append(evaluate(request, out, watch=watch))
        except BaseException as error:
            results.append(error)

    thread = Thread(target=work, daemon=True)
    thread.start()
    yield results
    thread.join(120)
    assert not thread.is_alive()


def turns(run: Path) -> int:
    """How many are in the record by now."""
    with closing(Journal.open(run / "run.sqlite", write=False)) as journal:
        return journal.last_turn()


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    run = tmp_path_factory.mktemp("serial") / "run"
    evaluate(plan(0, executor=Choice(name="serial")), run)
    return record(run)


def test_the_contract_is_kept() -> None:
    check_executor(lambda: Leases(LeasesConfig(workers=1)))


def test_workers_are_processes_of_their_own() -> None:
    found = {*Leases(LeasesConfig(workers=1)).map(process_of, [0, 1, 2])}
    assert len(found) == 1 and os.getpid() not in found
    assert not meeting_place(os.getpid()).exists()


def test_one_that_was_started_and_one_that_has_joined_share_a_run(tmp_path: Path, serial: list[Any]) -> None:
    run = tmp_path / "run"
    with evaluating(plan(1), run) as results:
        other = joiner(run)
        assert (other.communicate(timeout=120)[1], other.returncode) == ("", 0)
    assert (results[0].status, results[0].failures) == ("ok", ())
    assert record(run) == serial


@pytest.mark.parametrize(
    "sign",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGINT, marks=pytest.mark.slow),
        pytest.param(signal.SIGSTOP, marks=pytest.mark.slow),
    ],
)
def test_one_that_dies_leaves_or_stands_still_costs_nothing(sign: int, tmp_path: Path, serial: list[Any]) -> None:
    run = tmp_path / "run"
    with evaluating(plan(0), run) as results:
        first = joiner(run)
        while not turns(run):
            time.sleep(0.02)
        first.send_signal(sign)
        second = joiner(run)
        assert (second.communicate(timeout=120)[1], second.returncode) == ("", 0)
    assert (results[0].status, results[0].failures) == ("ok", ())
    assert record(run) == serial
    first.send_signal(signal.SIGCONT)
    _, said = first.communicate(timeout=30)
    assert first.returncode != 0
    assert "has taken this one for dead" in said or sign != signal.SIGSTOP


@pytest.mark.slow
def test_an_episode_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    result = evaluate(plan(2, environment=mined), tmp_path / "run")
    found = {str(each.key): each for each in record(tmp_path / "run")}
    deadly = {key for key, each in found.items() if each.world.labels["distance"] == 4}
    assert 0 < len(deadly) < len(found)
    assert {failure.subject for failure in result.failures} == deadly


@pytest.mark.slow
def test_budgets_are_kept(tmp_path: Path) -> None:
    asks = {"agent": "asking", "environment": "corridor", "episodes": 40}
    with pytest.raises(RunFailed, match=r"run\.max_calls=12 are spent"):
        evaluate(plan(1, max_calls=12, **asks), tmp_path / "run", Catalogue(load_plugins(modules=(KIT,))))
    with closing(Journal.open(tmp_path / "run" / "run.sqlite", write=False)) as journal:
        assert 0 < spent_before(journal)[0] <= 12


def test_workers_end_when_the_work_is_stopped() -> None:
    executor = Leases(LeasesConfig(workers=1))
    stopper = Thread(target=lambda: (time.sleep(2), executor.stop()))
    stopper.start()
    started = time.monotonic()
    with pytest.raises(GdeError, match="the workers were stopped"):
        [*executor.map(wait_long, [60.0])]
    assert time.monotonic() - started < 30
    stopper.join()


def test_a_run_that_nobody_holds_cannot_be_joined(tmp_path: Path) -> None:
    run = tmp_path / "run"
    with pytest.raises(RunFolderError, match=r"no run folder .*run: wanted the folder that `gde eval` made"):
        join(run)
    folder = RunFolder.create(plan(0), run)
    with pytest.raises(RunFolderError, match=r"nobody has the run .*: go on with `gde resume .*run`, which lends work"):
        join(run)
    for pid, reason in (
        (os.getpid(), r"has the run .* does not listen"),
        (dead(), r"which had the run .*, was killed"),
    ):
        (run / ".writer").write_text(f"process {pid} on {os.uname().nodename} since today")
        with pytest.raises(RunFolderError, match=rf"process {pid},? {reason}"):
            join(run)
    (run / ".writer").write_text("process 1 on elsewhere.example since today")
    with pytest.raises(RunFolderError, match=r"on elsewhere.example has the run .*: only processes of that machine"):
        join(run)
    (run / ".writer").unlink()
    (folder.path / "result.json").write_text("{}")
    with pytest.raises(RunFolderError, match="is finished: nothing is left to work on"):
        join(run)


def dead() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_whoever_waits_for_workers_says_so(tmp_path: Path) -> None:
    run, told = tmp_path / "run", set[str]()
    with evaluating(plan(0), run, lambda progress: told.add(progress.waits_for)):
        while not told - {""}:
            time.sleep(0.02)
        other = joiner(run)
        other.communicate(timeout=120)
    assert told == {"", f"workers: start one with `gde work {run}`"}


def test_another_version_is_told_so_and_given_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gde.executors.leases.SAME", "gde 0, Python 0")
    executor = Leases(LeasesConfig(workers=0))

    def hold() -> None:
        with pytest.raises(GdeError, match="the workers were stopped"):
            [*executor.map(process_of, [0])]

    holder = Thread(target=hold)
    holder.start()
    while not meeting_place(os.getpid()).exists():
        time.sleep(0.02)
    with pytest.raises(GdeError, match=r"the run is of gde 0, Python 0, this process of gde "):
        work(meeting_place(os.getpid()))
    executor.stop()
    holder.join()


def test_where_others_can_enter_nobody_meets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gde.executors.joining.gettempdir", lambda: str(tmp_path))
    (tmp_path / f"gde-{os.getuid()}").mkdir()
    (tmp_path / f"gde-{os.getuid()}").chmod(0o777)
    with pytest.raises(GdeError, match="wanted a folder that nobody else can enter"):
        meeting_place(1)
