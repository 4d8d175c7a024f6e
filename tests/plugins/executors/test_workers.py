"""Worker processes: what they compute in, how they end, and what comes back of what
goes wrong in them.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread, Timer

import pytest
from own_parts import (
    die_before_its_fork,
    die_by,
    end_with,
    fail,
    hide_an_interrupt,
    ignore,
    process_of,
    share_of_cores,
    stand_still,
    wait_long,
    write_at_exit,
)
from processes import started_by, wait_for

from gde import GdeError, RunFailed
from gde_plugins.executors.config import ProcessesConfig
from gde_plugins.executors.processes import Processes, _Worker
from gde_plugins.executors.work import threads

CORES = (
    len(os.sched_getaffinity(0))
    if hasattr(os, "sched_getaffinity")
    else os.cpu_count() or 1
)


@pytest.mark.parametrize(
    ("workers", "said", "share"),
    [
        (1, {}, CORES),
        (CORES, {}, 1),
        (10 * CORES, {}, 1),
        (1, {"OMP_NUM_THREADS": str(CORES + 5)}, CORES),
        (1, {"OMP_NUM_THREADS": "1"}, 1),
        (1, {"OMP_NUM_THREADS": "many"}, CORES),
        (1, {"OMP_NUM_THREADS": "0"}, CORES),
    ],
)
def test_a_worker_computes_in_its_share_of_the_cores(
    workers: int, said: dict[str, str], share: int
) -> None:
    assert threads(workers, said) == share


def test_the_share_is_set_before_anything_is_loaded_and_prints_are_no_outcome(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [*Processes(ProcessesConfig(CORES)).map(share_of_cores, range(CORES))] == [
        "1"
    ] * CORES
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.count("said aloud") == CORES


def test_an_interrupt_that_foreign_code_ignores_is_not_reported(
    capfd: pytest.CaptureFixture[str],
) -> None:
    errors = [KeyboardInterrupt("by a key"), ValueError("by a fault")]
    list(Processes(ProcessesConfig(1)).map(ignore, errors))
    reported = capfd.readouterr().err
    assert "by a fault" in reported and "by a key" not in reported


def test_a_worker_does_one_item_after_another() -> None:
    assert len(set(Processes(ProcessesConfig(1)).map(process_of, range(3)))) == 1


@pytest.mark.parametrize(
    ("job", "item", "message"),
    [
        (
            end_with,
            3,
            "a worker process ended with exit code 3 before its work was done; .* `gde resume`",
        ),
        (
            die_by,
            signal.SIGKILL,
            "a worker process was killed by SIGKILL before its work was done, perhaps because memory ran out",
        ),
        (die_by, signal.SIGUSR1, "a worker process was killed by SIGUSR1"),
        (die_before_its_fork, 60, "a worker process was killed by SIGKILL"),
    ],
)
def test_a_death_is_told(job: Callable[[int], None], item: int, message: str) -> None:
    begun = time.monotonic()
    with pytest.raises(RunFailed, match=message):
        [*Processes(ProcessesConfig(2)).map(job, [item])]
    assert time.monotonic() - begun < 40


def test_what_a_job_raises_comes_back_with_where_it_was_raised() -> None:
    with pytest.raises(KeyError, match="'odd'") as raised:
        [*Processes(ProcessesConfig(1)).map(fail, ["odd"])]
    assert any("own_parts.py" in note for note in raised.value.__notes__)
    with pytest.raises(GdeError, match=r"unknown agent 'nobody'.* Known: somebody"):
        [*Processes(ProcessesConfig(1)).map(fail, ["name"])]


@pytest.mark.parametrize("job", [wait_long, hide_an_interrupt])
def test_stopping_ends_workers_soon_and_for_good(job: Callable[[float], None]) -> None:
    executor = Processes(ProcessesConfig(2))
    Timer(1, executor.stop).start()
    begun = time.monotonic()
    with pytest.raises(RunFailed, match="the workers were stopped"):
        [*executor.map(job, [120, 120])]
    assert time.monotonic() - begun < 60
    with pytest.raises(RunFailed, match="the workers were stopped"):
        [*executor.map(wait_long, [0])]


def test_a_worker_that_has_done_its_work_ends_in_good_order(tmp_path: Path) -> None:
    file = tmp_path / "file"
    list(Processes(ProcessesConfig(1)).map(write_at_exit, [str(file)]))
    assert file.read_text() == "ended"


@pytest.mark.extended
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_worker_that_stands_still_is_killed() -> None:
    Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        list(Processes(ProcessesConfig(1)).map(stand_still, [0]))


def test_work_that_cannot_be_sent_is_refused_with_no_worker() -> None:
    with pytest.raises(GdeError, match="executor 'processes' cannot send an object"):
        list(Processes(ProcessesConfig(1)).map(abs, [Lock()]))


def test_a_signal_while_workers_end_lets_them_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A shell that starts a command in the background has it ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ended = []

    def close(worker: _Worker, kill: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        shut(worker, kill)
        ended.append(worker)

    shut = _Worker.close
    monkeypatch.setattr(_Worker, "close", close)
    with pytest.raises(KeyboardInterrupt):
        list(Processes(ProcessesConfig(workers=1)).map(abs, [1]))
    assert len(ended) == 1


PROGRAM = """
import sys
from own_parts import wait_long
from gde_plugins.executors.config import ProcessesConfig
from gde_plugins.executors.processes import Processes, _Worker
print("begun", flush=True)
list(Processes(ProcessesConfig(1)).map(wait_long, [120]))
"""


@pytest.mark.extended
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks processes up in /proc")
def test_workers_end_with_the_process_that_started_them() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    children: list[int] = wait_for(lambda: [*started_by(process.pid)])
    process.kill()
    process.communicate()
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))


def test_workers_stay_from_one_map_to_the_next_while_they_are_kept() -> None:
    executor = Processes(ProcessesConfig(1))
    with executor.keeping():
        (first,) = executor.map(process_of, [0])
        with pytest.raises(GdeError, match="nobody"):
            list(executor.map(fail, ["name"]))
        (second,) = executor.map(process_of, [0])
    (third,) = executor.map(process_of, [0])
    assert first == second != third
    for process in (first, third):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_leaving_ends_what_another_thread_waits_for() -> None:
    executor = Processes(ProcessesConfig(2))
    ended: list[str] = []

    def wait() -> None:
        with pytest.raises(RunFailed, match="the workers were stopped"):
            list(executor.map(wait_long, [120, 120]))
        ended.append("ended")

    waiting = Thread(target=wait)
    with executor.keeping():
        waiting.start()
        time.sleep(1)
    waiting.join(60)
    assert ended == ["ended"]
