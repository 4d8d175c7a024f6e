"""Workers that come from a nursery: loaded once, and otherwise like those that load for themselves."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from processes import wait_for

from gde import GdeError, RunFailed
from gde.executors.executors import Processes
from gde.executors.nursery import THREADS_HERE

pytestmark = pytest.mark.skipif(not THREADS_HERE.is_dir(), reason="nothing is forked where Linux does not say how")

LOADED = """
import os, time
import numpy as np

with open(os.environ["LOADED"], "a") as file:
    print(os.getpid(), file=file)

def whose(_):
    time.sleep(0.5)  # so that the other one takes the other item
    return os.getpid(), os.getppid(), float(np.random.random())

def end_with(code):
    os._exit(code)

def be_killed(_):
    os.kill(os.getpid(), 9)

def stop_nursery_and_be_killed(_):
    time.sleep(0.3)  # until both are forked
    os.kill(os.getppid(), 19)
    os.kill(os.getpid(), 9)

def stop_nursery_and_wait(_):
    time.sleep(0.3)
    os.kill(os.getppid(), 19)
    time.sleep(120)

def kill_nursery(first):
    time.sleep(0.5)  # until both are forked
    if first:
        os.kill(os.getppid(), 9)
    time.sleep(0.5)
    return os.getppid()
"""
Load = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """A function of a module that is imported here, and does something else first where it is loaded elsewhere."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("LOADED", str(tmp_path / "loaded"))
    monkeypatch.syspath_prepend(tmp_path)

    def function(name: str, elsewhere: str = "pass") -> Any:
        (tmp_path / "loaded_once.py").write_text(f"{LOADED}\nif os.getpid() != {os.getpid()}:\n    {elsewhere}\n")
        module = import_module("loaded_once")
        (tmp_path / "loaded").unlink()
        return getattr(module, name)

    yield function
    sys.modules.pop("loaded_once", None)


def loads(folder: Path) -> list[int]:
    """The processes that have loaded the module."""
    file = folder / "loaded"
    return [int(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_what_two_workers_need_is_loaded_once(load: Load, tmp_path: Path) -> None:
    (one, parent, dice), (other, same, others) = Processes(2).map(load("whose"), [0, 1])
    assert loads(tmp_path) == [parent]
    assert parent == same
    assert len({one, other, parent, os.getpid()}) == 4
    assert dice != others


def test_beside_threads_nothing_is_forked(load: Load, tmp_path: Path) -> None:
    job = load("whose", "import threading; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()")
    workers = {pid for pid, *_ in Processes(2).map(job, [0, 1])}
    assert len(workers) == 2
    assert workers < {*loads(tmp_path)}


def test_where_there_are_cores_to_spare_all_load_at_once(
    load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gde.executors.workers.threads", lambda *_: 2)
    workers = {pid for pid, *_ in Processes(2).map(load("whose"), [0, 1])}
    assert workers == {*loads(tmp_path)}


@pytest.mark.parametrize(
    ("name", "item", "elsewhere", "death"),
    [
        ("end_with", 3, "pass", "ended with exit code 3"),
        ("whose", 0, "os._exit(4)", "ended with exit code 4"),
        ("whose", 0, "os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("whose", 0, "raise SystemExit(5)", "ended with exit code 5"),
    ],
    ids=["working", "loading", "loading, killed", "loading, asked to end"],
)
def test_a_death_is_told(load: Load, name: str, item: int, elsewhere: str, death: str) -> None:
    with pytest.raises(RunFailed, match=f"a worker process {death} before its work was done"):
        [*Processes(2).map(load(name, elsewhere), [item, item])]


def test_what_loading_raises_is_told(load: Load) -> None:
    with pytest.raises(GdeError, match=r"cannot load its work \(no such thing\)"):
        [*Processes(2).map(load("whose", "raise RuntimeError('no such thing')"), [0, 1])]


LEFT = {
    "a program that goes on": "os.system('sleep 60 &')",
    "a fork that goes on": "os.getppid() == RUN and (os.fork() or (time.sleep(60), os._exit(0)))",
    "a process": "import multiprocessing as m; os.getppid() == RUN and m.Process(None, time.sleep, None, [60]).start()",
    "something slow at the end": "import atexit; atexit.register(time.sleep, 60)",
    "ends of children ignored": "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "a handler of alarms": "import signal; signal.signal(signal.SIGALRM, print)",
}


@pytest.mark.parametrize("left", LEFT.values(), ids=LEFT)
def test_what_is_left_where_it_was_loaded_keeps_no_run_from_ending(load: Load, left: str) -> None:
    begun = time.monotonic()
    with pytest.raises(RunFailed, match="a worker process was killed by SIGKILL"):
        [*Processes(2).map(load("be_killed", left.replace("RUN", str(os.getpid()))), [0, 1])]
    assert time.monotonic() - begun < 40


def test_a_nursery_that_is_stopped_keeps_no_run_from_ending(load: Load) -> None:
    with pytest.raises(RunFailed, match="a worker process was killed by SIGKILL"):
        [*Processes(2).map(load("stop_nursery_and_be_killed"), [0, 1])]
    executor = Processes(2)
    Timer(1.5, executor.stop).start()
    with pytest.raises(RunFailed, match="the workers were stopped"):
        [*executor.map(load("stop_nursery_and_wait"), [0, 1])]


def test_nothing_stays_open_where_it_cannot_be_started(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    job, descriptors = load("whose"), Path("/proc/self/fd")
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    before = len([*descriptors.iterdir()])
    with pytest.raises(FileNotFoundError):
        [*Processes(4).map(job, range(4))]
    assert len([*descriptors.iterdir()]) == before


def test_stopping_does_not_wait_for_what_is_loaded(load: Load) -> None:
    executor, begun = Processes(2), time.monotonic()
    Timer(1, executor.stop).start()
    with pytest.raises(RunFailed, match="the workers were stopped"):
        [*executor.map(load("whose", "time.sleep(120)"), ["more than a pipe holds" * 10_000] * 2)]
    assert time.monotonic() - begun < 60


PROGRAM = """
import loaded_once
from gde.executors.executors import Processes
list(Processes(2).map(loaded_once.whose, [0, 1]))
"""


def test_a_nursery_that_loads_ends_with_whoever_started_it(load: Load, tmp_path: Path) -> None:
    load("whose")
    child_of_asker = f"if os.getppid() != {os.getpid()}:\n    time.sleep(120)\n"
    (tmp_path / "loaded_once.py").write_text(LOADED + child_of_asker)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    asker = subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment)
    wait_for(lambda: len(loads(tmp_path)) == 2)
    nursery = next(pid for pid in loads(tmp_path) if pid != asker.pid)
    asker.kill()
    asker.wait()
    wait_for(lambda: not Path(f"/proc/{nursery}").exists())


def test_a_nursery_that_is_killed_takes_no_worker_with_it(load: Load, tmp_path: Path) -> None:
    parents = {*Processes(2).map(load("kill_nursery"), [True, False])}
    assert not parents & {*loads(tmp_path)}
