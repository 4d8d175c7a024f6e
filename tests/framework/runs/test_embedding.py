"""Runs begun from Python: in an event loop, with objects, stopped from outside, in a
script without a main guard.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from own_parts import Counting, Slow, episodes, go_right, long_corridor

from gde import (
    Choice,
    FunctionAgent,
    GdeError,
    How,
    Plan,
    Result,
    aevaluate,
    evaluate,
    report,
    rescore,
    resume,
)
from gde.store.folder import RunFolder
from gde.testing.parts import Corridor

N = 8


def plan(agent: Any = Counting, **fields: Any) -> Plan:
    chosen: dict[str, Any] = {
        "environment": long_corridor,
        "metrics": ["success", episodes],
        "episodes": N,
        **fields,
    }
    return Plan(agent=agent, **chosen)


def values(result: Result) -> dict[str, float | None]:
    return {each.name: each.value for each in result.measurements if not each.where}


def n_turns(path: Path) -> int:
    with closing(RunFolder(path).journal()) as journal:
        return journal.last_turn()


def gde(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gde", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False
    )


# In an event loop


def test_evaluate_works_where_a_loop_is_running(tmp_path: Path) -> None:
    async def notebook() -> Result:
        return evaluate(plan(), str(tmp_path / "run"))

    assert values(asyncio.run(notebook()))["success"] == 1.0


def test_aevaluate_leaves_the_loop_free(tmp_path: Path) -> None:
    async def program() -> tuple[Result, int]:
        work, ticks = asyncio.create_task(aevaluate(plan(Slow), tmp_path / "run")), 0
        while not work.done():
            await asyncio.sleep(0.01)
            ticks += 1
        return work.result(), ticks

    result, ticks = asyncio.run(program())
    assert (values(result)["success"], values(result)["episodes.all"]) == (1.0, N)
    assert ticks > 10


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_cancelled_evaluation_has_stopped_and_can_go_on(
    executor: str, tmp_path: Path
) -> None:
    request, run = plan(Slow), tmp_path / "run"
    how = How(executor=executor, concurrency=1)

    async def program() -> None:
        work = asyncio.create_task(aevaluate(request, run, how=how))
        await asyncio.to_thread(wait_for_turns, run, 3)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(program())
    kept = n_turns(run)
    time.sleep(0.2)
    assert n_turns(run) == kept
    assert not (run / "result.json").exists()
    result = resume(run, plan=request)
    assert (result.status, values(result)["episodes.all"]) == ("ok", N)
    assert kept < n_turns(run)


def test_an_interrupt_stops_the_thread_beside_the_loop(tmp_path: Path) -> None:
    run, request = tmp_path / "run", plan(Slow)

    async def notebook() -> None:
        evaluate(request, run, how=How(concurrency=1))

    with interrupting(run), pytest.raises(KeyboardInterrupt):
        asyncio.run(notebook())
    kept = n_turns(run)
    time.sleep(0.2)
    assert n_turns(run) == kept
    assert resume(run, plan=request).status == "ok"


@pytest.mark.parametrize("wrong", ["nowhere", {"workers": 0}])
def test_an_executor_that_is_not_here_is_refused_for_a_finished_run(
    wrong: Any, tmp_path: Path
) -> None:
    """A stand-in for it, as for other parts of the run, would do no work."""
    run = tmp_path / "run"
    evaluate(plan(FunctionAgent(go_right)), run)
    before = (run / "result.json").read_bytes()
    executor = wrong
    if isinstance(wrong, dict):
        executor = Choice(name="processes", config=wrong)
    for add in (rescore, resume):
        with pytest.raises(GdeError, match=r"unknown executor|executor\.workers"):
            add(run, plan=plan(FunctionAgent(go_right)), how=How(executor=executor))
    assert (run / "result.json").read_bytes() == before


@contextmanager
def interrupting(run: Path) -> Iterator[None]:
    """SIGINT to this process once a few turns are recorded."""

    def interrupt() -> None:
        wait_for_turns(run, 3)
        os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=interrupt)
    thread.start()
    yield
    thread.join()


def wait_for_turns(run: Path, n: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (
        (run / "plan.toml").is_file() and n_turns(run) >= n
    ):
        time.sleep(0.01)


# With objects


@pytest.mark.parametrize("executor", ["serial", "processes"])
def test_a_run_of_objects_alone(executor: str, tmp_path: Path) -> None:
    result = evaluate(
        plan(FunctionAgent(go_right)), tmp_path / "run", how=How(executor=executor)
    )
    assert (values(result)["success"], values(result)["episodes.all"]) == (1.0, N)
    assert result.provenance["parts"]["agent go_right"] == "python:go_right v1"  # type: ignore[index, call-overload]


def test_what_is_left_of_a_run_without_its_objects(tmp_path: Path) -> None:
    request, run = plan(metrics=["success", "accuracy", episodes]), tmp_path / "run"
    made = evaluate(request, run)
    rescored = gde("rescore", run, "--json")  # a process that has never seen them
    assert rescored.returncode == 0, rescored.stderr
    assert {
        one["name"]: one["value"] for one in json.loads(rescored.stdout)["measurements"]
    } == values(made)
    assert report(run) == [run / "report.html"]
    lost = (
        r"is not an offer but an object of the program that made the run: resume "
        r"in Python .*resume\(RUN, plan=\.\.\., how=\.\.\.\)"
    )
    with pytest.raises(GdeError, match=lost):
        resume(run)
    assert values(resume(run, plan=request)) == values(made)
    assert values(rescore(run, plan=request)) == values(made)
    assert report(run, plan=request) == [run / "report.html"]


def test_an_object_can_be_added_to_a_run(tmp_path: Path) -> None:
    evaluate(plan(metrics=["success"]), tmp_path / "run")
    assert values(rescore(tmp_path / "run", [episodes])).keys() >= {
        "success",
        "episodes.all",
    }


def test_a_run_goes_on_with_its_own_plan_alone(tmp_path: Path) -> None:
    evaluate(plan(), tmp_path / "run")
    with pytest.raises(
        GdeError,
        match=r"wanted the plan that the run began with \(\w{12}\), got another \(\w{12}\)",
    ):
        resume(tmp_path / "run", plan=plan(episodes=N + 1))


# In worker processes

SCRIPT = """
from own_parts import Counting, episodes, long_corridor
from gde import How, Plan, evaluate
{class_}
metrics = [episodes, lambda evidence: []]
plan = Plan(environment=long_corridor, agent={agent}, metrics=metrics, episodes=4)
print("begun")
print(evaluate(plan, "run", how=How(executor="processes")).status)
"""
MINE = "class Mine(Counting): pass"


def test_a_script_without_a_main_guard_may_use_processes(tmp_path: Path) -> None:
    done = script(SCRIPT.format(class_="", agent="Counting"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "begun\nok\n"


def test_what_lives_in_the_script_itself_is_refused_with_what_to_do(
    tmp_path: Path,
) -> None:
    done = script(SCRIPT.format(class_=MINE, agent="Mine"), tmp_path)
    assert done.stdout == "begun\n"
    assert (
        "Mine is defined in the script or notebook that is running, which its workers do not load"
        in done.stderr
    )
    assert (
        "define it in an importable module, or use the executor serial" in done.stderr
    )
    assert not (tmp_path / "run").exists()


def script(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    (folder / "script.py").write_text(text)
    command = [sys.executable, "script.py"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def test_what_cannot_be_pickled_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    wrong = plan(lambda: Counting())
    with pytest.raises(
        GdeError,
        match=r"cannot send an object to its workers .*: define it at the top of a module, or",
    ):
        evaluate(wrong, tmp_path / "run", how=How(executor="processes"))
    assert not (tmp_path / "run").exists()


def test_paths_may_be_text(tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    evaluate(
        Plan(environment=Corridor, agent=Counting, metrics=["success"], episodes=1), run
    )
    assert values(rescore(run)) == {"success": 1.0}
    assert report(run, [Choice(name="html")]) == [tmp_path / "run" / "report.html"]
