"""Where calls of environments are made: those that block side by side in threads, all
others in the event loop.
"""

import asyncio
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gde.data.how import How
from gde.data.observation import Observation, Outcome
from gde.data.plan import Choice, Plan
from gde.offers import EnvironmentOffer, NoConfig
from gde.request.catalogue import Catalogue
from gde.request.resolve import resolve
from gde.runs.evaluating import evaluate
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
    """Takes ten milliseconds a step, and waits as an emulator in another process
    would.
    """

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


SLOW = EnvironmentOffer(
    name="slow", summary="", config=NoConfig, make=lambda _, __: Slow(), blocking=True
)


def test_steps_that_block_overlap(counted: Count, tmp_path: Path) -> None:
    choices: dict[str, Any] = {
        "environment": Choice(name="slow", part=SLOW),
        "agent": walker,
        "metrics": ("length",),
    }
    result = evaluate(
        Plan(**choices, episodes=24), tmp_path / "run", how=How(concurrency=12)
    )
    assert result.status == "ok"
    assert counted.most > 1
    assert threading.main_thread().name not in counted.threads


@pytest.mark.parametrize(("most", "episodes"), [(None, 12), (2, 2), (50, 12)])
def test_an_offer_can_say_how_many_of_its_environments_there_are_at_once(
    most: int | None, episodes: int
) -> None:
    ready = resolve(
        Plan(environment=Slow, agent=walker),
        Catalogue.default(),
        How(concurrency=12),
    )
    (condition,) = ready.conditions
    entry = condition.environment.entry
    entry = replace(entry, offer=replace(entry.offer, at_once=most))
    crowded = replace(
        condition, environment=replace(condition.environment, entry=entry)
    )
    assert at_once(replace(ready, conditions=(crowded,))) == episodes


async def threads_of(hosts: Hosts, times: int) -> list[str]:
    """The thread in which each of some episodes, one after another, has its environment
    called.
    """
    threads = []
    for _ in range(times):
        async with hosts.borrow() as host:
            threads.append(await host.call(lambda _: threading.current_thread().name))
    await hosts.close()
    return threads


def test_calls_are_made_in_the_event_loop_unless_a_thread_is_asked_for() -> None:
    inline = Hosts(lambda: Corridor(3), threaded=False)
    assert asyncio.run(threads_of(inline, 2)) == [threading.main_thread().name] * 2
    threaded = Hosts(lambda: Corridor(3), threaded=True)
    assert asyncio.run(threads_of(threaded, 2)) == ["gde-environment"] * 2


def test_calls_with_deadlines_have_threads_though_they_do_not_block(
    counted: Count, tmp_path: Path
) -> None:
    choices: dict[str, Any] = {
        "environment": Slow,
        "agent": walker,
        "metrics": ("length",),
    }
    evaluate(Plan(**choices, episodes=2), tmp_path / "run", how=How(turn_seconds=30.0))
    assert counted.threads == {"gde-environment"}


def test_a_hanging_step_fails_its_episode_and_no_other(tmp_path: Path) -> None:
    choices: dict[str, Any] = {
        "environment": Stuck,
        "agent": walker,
        "metrics": ("length",),
    }
    result = evaluate(
        Plan(**choices, episodes=12), tmp_path / "run", how=How(turn_seconds=0.5)
    )
    trajectories = load_evidence(tmp_path / "run").trajectories
    failed = {str(one.key) for one in trajectories if one.ending == "failed"}
    assert len(trajectories) == 12
    assert 0 < len(failed) < 12
    assert {failure.subject for failure in result.failures} == failed
    assert all("run.turn_seconds=0.5" in failure.reason for failure in result.failures)
