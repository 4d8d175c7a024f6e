"""A run that is killed loses no finished turn, asks again only for what was in flight,
and ends as if undisturbed.
"""

import errno
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from forging import forge

from gde import (
    Choice,
    GdeError,
    How,
    Plan,
    RunFailed,
    evaluate,
    load_evidence,
    read_plan,
    resume,
    write_plan,
)
from gde.request.catalogue import Catalogue, load_plugins
from gde.runs.exporting import export
from gde.store import database, folder
from gde.store.folder import RunFolder

MODULES = "gde.testing.plugin,odd_parts"
EPISODES = 12
CONCURRENCY = 5


def plan(log: Path, pause: float = 0.0) -> Plan:
    return Plan(
        environment=Choice(name="long-corridor"),
        agent=Choice(name="asking-logged"),
        models=[Choice(name="", config={"log": str(log), "pause": pause})],
        metrics=(Choice(name="success"), Choice(name="accuracy")),
        episodes=EPISODES,
    )


def exported(run: Path) -> str:
    text = StringIO()
    export(run, "jsonl", text)
    return text.getvalue()


def n_turns(run: Path) -> int:
    if not (run / "run.sqlite").is_file():
        return 0
    with closing(sqlite3.connect(run / "run.sqlite")) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM turns").fetchone()[0])
        except sqlite3.OperationalError:  # the tables are not there yet
            return 0


def start(request: Plan, out: Path, *more: str) -> subprocess.Popen[bytes]:
    """Run the plan in a process of its own."""
    out.parent.mkdir(exist_ok=True)
    file = out.parent / f"{out.name}.toml"
    file.write_text(write_plan(request))
    command = [
        sys.executable,
        "-m",
        "gde",
        "eval",
        "--plan",
        str(file),
        "--out",
        str(out),
        "--concurrency",
        str(CONCURRENCY),
        *more,
    ]
    environment = {**os.environ, "GDE_LOAD_PLUGINS": MODULES}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait_for_turns(process: subprocess.Popen[bytes], out: Path, n: int) -> None:
    """Until so many turns are in the record."""
    deadline = time.monotonic() + 60
    while n_turns(out) < n and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)


def kill_during(request: Plan, out: Path, after_turns: int) -> None:
    """Run the plan and SIGKILL it once so many turns are in the record."""
    process = start(request, out)
    wait_for_turns(process, out, after_turns)
    process.send_signal(signal.SIGKILL)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL, errors.decode()


@pytest.mark.parametrize("after_turns", [0, 1, 17, 40])
def test_sigkill_loses_no_finished_turn(
    after_turns: int, tmp_path: Path, catalogue: Catalogue
) -> None:
    undisturbed_log, log = tmp_path / "undisturbed.log", tmp_path / "log"
    undisturbed = evaluate(plan(undisturbed_log), tmp_path / "undisturbed", catalogue)
    request = plan(log, pause=0.01)
    kill_during(request, tmp_path / "killed", after_turns)
    if not (tmp_path / "killed" / "plan.toml").is_file():
        return  # killed before there was anything to lose
    kept = n_turns(tmp_path / "killed")
    before = (
        Counter(line.split()[1] for line in log.read_text().splitlines())
        if log.exists()
        else Counter()
    )
    result = resume(tmp_path / "killed", catalogue)

    def unlogged(run: Path) -> str:
        return exported(run).replace(str(log), "").replace(str(undisturbed_log), "")

    assert unlogged(tmp_path / "killed") == unlogged(tmp_path / "undisturbed")
    assert result.measurements == undisturbed.measurements
    asked = Counter(line.split()[1] for line in log.read_text().splitlines())
    assert kept >= after_turns
    assert max(asked.values()) <= 2
    assert (
        sum(n - 1 for n in asked.values()) <= CONCURRENCY
    )  # only what was in flight is asked again
    assert (
        sum(before.values()) - kept <= CONCURRENCY
    )  # only what was in flight was lost


@pytest.mark.parametrize(
    ("executor", "sent"),
    [
        ("serial", signal.SIGINT),
        ("serial", signal.SIGTERM),
        ("processes", signal.SIGTERM),
    ],
)
def test_interrupting_leaves_a_run_that_can_go_on(
    executor: str, sent: signal.Signals, tmp_path: Path, catalogue: Catalogue
) -> None:
    request = plan(tmp_path / "log", pause=0.05)
    process = start(request, tmp_path / "run", "--executor", executor)
    wait_for_turns(process, tmp_path / "run", 3)
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors.decode()
    assert (
        f"interrupted; finished turns are kept; resume with `gde resume {tmp_path / 'run'}`".encode()
        in errors
    )
    assert b"Traceback" not in errors and b"leaked" not in errors
    assert resume(tmp_path / "run", catalogue).status == "ok"


def test_resuming_a_finished_run_asks_nothing_and_changes_nothing(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    log = tmp_path / "log"
    result = evaluate(plan(log), tmp_path / "run", catalogue)
    asked, record = log.read_text(), exported(tmp_path / "run")
    assert resume(tmp_path / "run", catalogue).measurements == result.measurements
    assert (log.read_text(), exported(tmp_path / "run")) == (asked, record)


def test_an_agent_that_is_no_function_of_its_seed_is_found_out(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    request = Plan(
        environment=Choice(name="long-corridor"),
        agent=Choice(name="scripted"),
        episodes=2,
    )
    request = replace(request, metrics=(Choice(name="success"),))
    run = tmp_path / "run"
    evaluate(request, run, catalogue)
    change = "UPDATE turns SET action = 'LEFT' WHERE episode = '0/0/0' AND turn = 1"
    forge(run, "UPDATE episodes SET ending = NULL WHERE world = 0", change)
    result = resume(run, catalogue)
    assert [failure.reason for failure in result.failures] == [
        "the agent is not deterministic: turn 1 was LEFT and is RIGHT on replay"
    ]


def test_a_world_that_is_no_longer_the_same_is_found_out(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    request = Plan(
        environment=Choice(name="long-corridor"),
        agent=Choice(name="scripted"),
        episodes=2,
    )
    request = replace(request, metrics=(Choice(name="success"),))
    evaluate(request, tmp_path / "run", catalogue)
    change = "UPDATE episodes SET ending = NULL, world_id = 'another' WHERE world = 0"
    forge(tmp_path / "run", change)
    (failure,) = resume(tmp_path / "run", catalogue).failures
    assert failure.reason.startswith(
        "the world has changed: the record has another, the environment makes"
    )


def test_a_full_disk_stops_the_run_with_one_message_and_it_can_go_on(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, connect = tmp_path / "log", database.connect

    def small(path: Path, **how: bool) -> sqlite3.Connection:
        connection = connect(path, **how)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count={pages + 3 if pages > 1 else 1000}")
        return connection

    monkeypatch.setattr(database, "connect", small)
    with pytest.raises(
        RunFailed,
        match=r"cannot write the journal: .*full; free disk space, then resume with `gde resume`",
    ):
        evaluate(plan(log), tmp_path / "run", catalogue)
    monkeypatch.setattr(database, "connect", connect)
    kept = n_turns(tmp_path / "run")
    assert kept > 0
    resumed = resume(tmp_path / "run", catalogue)
    undisturbed = evaluate(plan(log), tmp_path / "undisturbed", catalogue)
    assert resumed.measurements == undisturbed.measurements
    assert exported(tmp_path / "run") == exported(tmp_path / "undisturbed")


def test_a_disk_that_is_full_from_the_start_leaves_nothing_behind(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        path.write_bytes(b"SQLite")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(folder, "make", full)
    with pytest.raises(GdeError, match=r"cannot make the folder .*No space left"):
        evaluate(plan(tmp_path / "log"), tmp_path / "run", catalogue)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (lambda run: None, "no run folder .*: give a folder that `gde eval` made"),
        (lambda run: run.mkdir(), r"is no run folder: wanted plan\.toml in it"),
    ],
)
def test_what_is_no_run_folder_is_refused(
    prepare: object, message: str, tmp_path: Path
) -> None:
    prepare(tmp_path / "run")  # type: ignore[operator]
    with pytest.raises(GdeError, match=message):
        resume(tmp_path / "run")


def test_a_damaged_or_newer_record_is_refused(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    request = Plan(
        environment=Choice(name="corridor"), agent=Choice(name="scripted"), episodes=1
    )
    folder = RunFolder.create(request, tmp_path / "run", How())
    with closing(sqlite3.connect(folder.path / "run.sqlite")) as connection:
        connection.execute("PRAGMA user_version=99")
    with pytest.raises(GdeError, match=r"written by a newer gde \(schema 99, here"):
        resume(folder.path, catalogue)
    for file in folder.path.glob("run.sqlite*"):
        file.write_bytes(
            b"not a database at all, but long enough to be looked at as if it were one"
        )
    with pytest.raises(GdeError, match="the file is damaged"):
        resume(folder.path, catalogue)


def test_plans_name_the_parts_that_are_gone(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    request = plan(tmp_path / "log")
    folder = RunFolder.create(replace(request, episodes=1), tmp_path / "run", How())
    assert read_plan(folder.path / "plan.toml").environment.name == "long-corridor"
    with pytest.raises(GdeError, match="unknown environment 'long-corridor'"):
        resume(folder.path, Catalogue(load_plugins()))


def test_failed_episodes_can_begin_anew_once_the_outage_is_over(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worlds 0 to 5 of the corridor; the simulator is away for those that begin in cell
    1.
    """
    wanted = Plan(
        environment="faulty", agent="scripted", metrics=["success"], episodes=6
    )
    monkeypatch.setenv("ODD_PARTS_OUTAGE", "1")
    first = evaluate(wanted, tmp_path / "run", catalogue)
    lost = {failure.subject for failure in first.failures}
    assert first.status == "partial" and 0 < len(lost) < 6
    assert (
        resume(tmp_path / "run", catalogue).failures == first.failures
    )  # final, unless asked for
    monkeypatch.delenv("ODD_PARTS_OUTAGE")
    second = resume(tmp_path / "run", catalogue, retry_failed=True)
    assert (second.status, second.failures) == ("ok", ())
    assert second.provenance["retried"] == {
        episode: ["ConnectionError: the simulator is away"] for episode in lost
    }
    undisturbed = evaluate(wanted, tmp_path / "other", catalogue)
    assert second.measurements == undisturbed.measurements
    assert (
        load_evidence(tmp_path / "run").trajectories
        == load_evidence(tmp_path / "other").trajectories
    )
