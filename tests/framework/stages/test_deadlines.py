"""What never comes back is interrupted, named, and harms nobody else."""

import asyncio
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from gde import (
    Choice,
    Decision,
    Evidence,
    How,
    Measurement,
    Observation,
    Plan,
    evaluate,
    load_evidence,
)
from gde.request.catalogue import Catalogue
from gde.stages.deadlines import Interruptible, Overdue, interrupting
from gde.testing.parts import ScriptedAgent

PLAN = Plan(environment="corridor", agent="scripted", metrics=["success"], episodes=8)


def sleep() -> None:
    time.sleep(3600)


def spin() -> None:
    while True:
        pass


def listen() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.recv(1)


def swallow() -> None:
    while True:
        try:
            time.sleep(3600)
        except Overdue as error:
            if time.monotonic() - begun[0] > 1:
                raise RuntimeError("at last") from error


begun = [0.0]


@pytest.mark.parametrize("hang", [sleep, spin, listen])
def test_whatever_hangs_is_interrupted(hang: Callable[[], None]) -> None:
    handler, timer = (
        signal.getsignal(signal.SIGALRM),
        signal.getitimer(signal.ITIMER_REAL),
    )
    with pytest.raises(Overdue, match="too late"), interrupting(0.1, "too late"):
        hang()
    assert signal.getsignal(signal.SIGALRM) == handler
    assert (signal.getitimer(signal.ITIMER_REAL)[0] > 0) == (timer[0] > 0)


def test_what_swallows_its_interruption_is_interrupted_again() -> None:
    begun[0] = time.monotonic()
    with pytest.raises(RuntimeError, match="at last"), interrupting(0.1, "too late"):
        swallow()


def test_nothing_is_interrupted_in_time_or_in_other_threads() -> None:
    with interrupting(0.2, "too late"):
        pass
    time.sleep(0.3)
    done = []

    def elsewhere() -> None:
        with interrupting(0.05, "too late"):
            time.sleep(0.1)
        done.append(True)

    thread = Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert done


def test_interruptible_work_passes_values_errors_and_cancellations_on() -> None:
    async def work(events: list[str]) -> int:
        try:
            await asyncio.sleep(0.01)
            events.append("slept")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            events.append("cancelled")
            raise
        return 1

    async def both() -> list[str]:
        events: list[str] = []
        task = asyncio.ensure_future(
            asyncio.wait_for(Interruptible(work(events), 5, "late"), 0.2)
        )
        with pytest.raises(TimeoutError):
            await task
        assert await Interruptible(asyncio.sleep(0.01, "value"), 5, "late") == "value"
        return events

    assert asyncio.run(both()) == ["slept", "cancelled"]


class Stuck(ScriptedAgent):
    """Never comes back in worlds that begin in the first cell, and does not give way
    either.
    """

    async def act(self, observation: Observation) -> Decision:
        if observation.text.startswith("#A"):
            sleep()
        return await super().act(observation)


def stuck(evidence: Evidence) -> list[Measurement]:
    sleep()
    return []


class StuckReporter:
    """Never done."""

    def render(self, *_: object) -> Path:
        sleep()
        return Path()


def test_an_agent_that_stands_still_fails_its_episodes(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    result = evaluate(
        replace(PLAN, agent=Choice.of(Stuck)),
        tmp_path / "run",
        catalogue,
        how=How(turn_seconds=0.3),
    )
    found = load_evidence(tmp_path / "run", catalogue).trajectories
    late = {str(each.key) for each in found if each.world.labels["distance"] == 2}
    assert 0 < len(late) < 8
    assert {(each.subject, each.reason) for each in result.failures} == {
        (key, "turn 0: more than run.turn_seconds=0.3") for key in late
    }


def test_metrics_and_reports_that_stand_still_are_failures(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    wanted = replace(PLAN, metrics=("success", Choice.of(stuck)))
    how = How(reporters=(Choice.of(StuckReporter),), part_seconds=0.3)
    result = evaluate(wanted, tmp_path / "run", catalogue, how=how)
    assert result.status == "partial"
    assert [(each.stage, each.subject, each.reason) for each in result.failures] == [
        ("metric", "stuck", "more than run.part_seconds=0.3"),
        ("report", "StuckReporter", "more than run.part_seconds=0.3"),
    ]
    assert "success" in {each.name for each in result.measurements}
