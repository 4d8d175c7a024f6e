"""Where calls of environments are made: slow ones side by side in threads, quick ones in the event loop."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gde.data.observation import Observation, Outcome
from gde.data.plan import Plan
from gde.parts.environment import Environment
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.runs.evaluating import evaluate
from gde.stages import hosting
from gde.stages.evidence import load_evidence
from gde.stages.hosting import Hosts
from gde.stages.rollout import at_once
from gde.testing.parts import RIGHT, Corridor, ScriptedAgent


@dataclass
class Count:
    """Calls that are being made at this moment, and the most that there ever were."""

    now: int = 0
    most: int = 0
    threads: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self) -> None:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.threads.add(threading.current_thread().name)

    def leave(self) -> None:
        with self.lock:
            self.now -= 1


COUNTED = Count()


class Slow(Corridor):
    """Takes ten milliseconds a step, and waits as an emulator in another process would."""

    def step(self, action: str) -> Outcome:
        COUNTED.enter()
        time.sleep(0.01)
        COUNTED.leave()
        return super().step(action)


class Stuck(Corridor):
    """Hangs in the step that follows on its second cell, in every second world."""

    def reset(self, seed: int) -> Observation:
        self.hangs = seed % 2 == 0
        return super().reset(seed)

    def step(self, action: str) -> Outcome:
        if self.hangs and self.at == 1:
            threading.Event().wait(30)
        return super().step(action)


def walker() -> ScriptedAgent:
    return ScriptedAgent((RIGHT,))


@pytest.fixture
def counted() -> Count:
    COUNTED.__init__()  # type: ignore[misc]  # environments are made by their class and know no other place to count
    return COUNTED


def test_slow_steps_overlap(counted: Count, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "PATIENCE", 0.05)
    choices: dict[str, Any] = {"environment": Slow, "agent": walker, "metrics": ("length",)}
    result = evaluate(Plan(**choices, episodes=24, concurrency=12), tmp_path / "run")
    assert result.status == "ok"
    assert counted.most > 1
    assert threading.main_thread().name not in counted.threads


@pytest.mark.parametrize(("most", "episodes"), [(None, 12), (2, 2), (50, 12)])
def test_an_offer_can_say_how_many_of_its_environments_there_are_at_once(most: int | None, episodes: int) -> None:
    ready = resolve(Plan(environment=Slow, agent=walker, concurrency=12), Catalogue.default())
    (stratum,) = ready.strata
    entry = stratum.environment.entry
    entry = replace(entry, offer=replace(entry.offer, at_once=most))
    crowded = replace(stratum, environment=replace(stratum.environment, entry=entry))
    assert at_once(replace(ready, strata=(crowded,))) == episodes


async def played(hosts: Hosts, call: Callable[[Environment], object], times: int) -> list[bool]:
    """Whether each of some episodes, one after another, had a thread."""
    threaded = []
    for _ in range(times):
        async with hosts.borrow() as host:
            threaded.append(host.thread is not None)
            for _ in range(hosting.ENOUGH):
                await host.call(call)
    await hosts.close()
    return threaded


@pytest.fixture
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands while other programs have the processor."""
    monkeypatch.setattr(hosting, "perf_counter", time.thread_time)


@pytest.mark.usefixtures("undisturbed")
def test_quick_calls_are_made_in_the_event_loop_once_they_have_proved_so() -> None:
    hosts = Hosts(lambda: Corridor(3), always_thread=False)
    assert asyncio.run(played(hosts, lambda one: one.task(), 3)) == [True, False, False]


def test_calls_that_wait_keep_their_threads() -> None:
    hosts = Hosts(lambda: Corridor(3), always_thread=False)
    assert asyncio.run(played(hosts, lambda one: time.sleep(0.005), 3)) == [True, True, True]


@pytest.mark.usefixtures("undisturbed")
def test_short_computations_are_no_reason_for_a_thread() -> None:
    """Threads of one process take turns at computing: to change between them only costs."""
    hosts = Hosts(lambda: Corridor(3), always_thread=False)
    assert asyncio.run(played(hosts, lambda one: sum(range(100_000)), 3)) == [True, False, False]


def test_calls_with_deadlines_always_have_threads() -> None:
    hosts = Hosts(lambda: Corridor(3), always_thread=True)
    assert asyncio.run(played(hosts, lambda one: one.task(), 3)) == [True, True, True]


@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_episodes_begin_one_at_a_time_until_calls_have_proved_quick(seconds: float) -> None:
    """So that not all of them begin in threads, which would slow each other down and seem slow. However long each agent
    takes between two calls, it takes a few episodes to find out."""
    hosts, threaded = Hosts(lambda: Corridor(3), always_thread=False), []

    async def episode() -> None:
        async with hosts.borrow() as host:
            threaded.append(host.thread is not None)
            for _ in range(hosting.ENOUGH):
                await host.call(lambda one: one.task())
                await asyncio.sleep(seconds)

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(40):
                group.create_task(episode())
        await hosts.close()

    asyncio.run(together())
    assert 1 <= sum(threaded) <= hosting.ENOUGH


def test_on_trial_calls_are_made_one_at_a_time(counted: Count) -> None:
    hosts = Hosts(lambda: Slow(3), always_thread=False)

    async def episode() -> None:
        async with hosts.borrow() as host:
            await host.call(lambda one: one.reset(1))
            await host.call(lambda one: one.step(RIGHT))
            told.append((host.pace.on_trial, counted.most))

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(8):
                group.create_task(episode())
        await hosts.close()

    told: list[tuple[bool, int]] = []
    asyncio.run(together())
    assert all(most <= 1 for on_trial, most in told if on_trial)
    assert counted.most > 1


def test_the_others_do_not_wait_for_a_slow_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "PATIENCE", 0.02)
    hosts, released, waiting = Hosts(lambda: Corridor(3), always_thread=False), threading.Event(), []

    async def slow() -> None:
        async with hosts.borrow() as host:
            waiting.append("slow")
            await host.call(lambda one: released.wait(30))

    async def other() -> None:
        async with hosts.borrow():
            waiting.append("other")
        released.set()

    async def together() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(slow())
            group.create_task(other())
        await hosts.close()

    asyncio.run(together())
    assert waiting == ["slow", "other"]


def test_a_hanging_step_fails_its_episode_and_no_other(tmp_path: Path) -> None:
    choices: dict[str, Any] = {"environment": Stuck, "agent": walker, "metrics": ("length",)}
    result = evaluate(Plan(**choices, episodes=12, turn_seconds=0.5), tmp_path / "run")
    trajectories = load_evidence(tmp_path / "run").trajectories
    failed = {str(one.key) for one in trajectories if one.ending == "failed"}
    assert len(trajectories) == 12
    assert 0 < len(failed) < 12
    assert {failure.subject for failure in result.failures} == failed
    assert all("run.turn_seconds=0.5" in failure.reason for failure in result.failures)
