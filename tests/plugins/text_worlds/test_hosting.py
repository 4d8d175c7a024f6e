"""A simulator that prints, hangs, dies or leaks stops nobody and leaves nothing
behind.
"""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from odd_simulators import ACTIONS

from gde import Plan, evaluate, load_evidence
from gde.errors import GdeError
from gde.testing import check_environment
from gde.testing.parts import ScriptedAgent
from gde_plugins.text_worlds.config import HostConfig
from gde_plugins.text_worlds.environment import Listed, Made, SimulatedEnvironment
from gde_plugins.text_worlds.hosting.host import Host
from gde_plugins.text_worlds.hosting.process import SimulatorFailed


def host(
    simulator: str = "Counter", limits: HostConfig | None = None, **settings: Any
) -> Host:
    settings = {"actions": ACTIONS, **settings} if simulator == "Counter" else settings
    return Host(
        "counter", f"odd_simulators:{simulator}", settings, limits or HostConfig()
    )


def counting(**limits: Any) -> SimulatedEnvironment:
    return SimulatedEnvironment(
        host(limits=HostConfig(**limits)), Made({"kind": "count"}), horizon=9
    )


def pid(environment: SimulatedEnvironment) -> int:
    return int(environment.world().labels["pid"])


def gone(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()


def over(process: int) -> bool:
    """Gone, or waiting for whoever adopts orphans."""
    with suppress(FileNotFoundError):
        return ") Z " in Path(f"/proc/{process}/stat").read_text()
    return True


def test_a_simulator_is_an_environment() -> None:
    def make() -> SimulatedEnvironment:
        quiet = Host("counter", "odd_simulators:Counter", {}, HostConfig())
        return SimulatedEnvironment(
            quiet, Listed({"a": {"seed": 1}, "b": {"seed": 2}}), horizon=9
        )

    class Unnumbered(SimulatedEnvironment):
        """Its record has no process number, which is another in every object."""

        def world(self) -> Any:
            world = super().world()
            return type(world)(id=world.id)

    check_environment(
        lambda: Unnumbered(make()._host, make()._games, horizon=9),
        seeds=(0, 1),
        turns=4,
    )


def test_games_of_other_settings_are_drawn_from_other_streams() -> None:
    games = [
        Made({"level": level}).game(seed)["seed"]
        for level in (1, 2)
        for seed in range(4)
    ]
    assert len({*games}) == 8
    assert max(games) < 2**31


def test_what_is_printed_disturbs_nothing() -> None:
    environment = counting()
    environment.reset(0)
    assert environment.step("PRINT").observation.text == "0"
    assert environment.step("ADD").success == pytest.approx(1 / 3)
    environment.close()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("HANG", r"step took longer than 0\.3 s, its process was killed"),
        ("DIE", "died in step of SIGSEGV; it said last: Segmentation what"),
        ("RAISE", "failed in step, KeyError: 'val1'"),
        ("QUIT", "failed in step, SystemExit: the planner found nothing"),
    ],
)
def test_a_failure_has_a_reason_and_the_simulator_is_replaced(
    action: str, message: str
) -> None:
    environment = counting(step_seconds=0.3)
    environment.reset(0)
    broken = pid(environment)
    with pytest.raises(SimulatorFailed, match=f"the simulator counter {message}"):
        environment.step(action)
    assert gone(broken)
    environment.reset(0)
    assert pid(environment) != broken
    assert environment.step("ADD").reward == 1
    environment.close()


def test_what_is_no_answer_is_a_failure() -> None:
    with pytest.raises(SimulatorFailed, match="answered begin with no JSON"):
        host("Babbler").begin({"seed": 0})


def test_a_simulator_that_cannot_be_made_says_why() -> None:
    with pytest.raises(GdeError, match=r"^needs Java$"):
        host("Unmade").begin({"seed": 0})
    with pytest.raises(
        SimulatorFailed,
        match="AttributeError: module 'odd_simulators' has no attribute 'Nobody'",
    ):
        host("Nobody").begin({"seed": 0})


def test_a_refused_game_leaves_the_simulator_alive() -> None:
    counter = host()
    before = counter.begin({"seed": 0}).labels["pid"]
    with pytest.raises(GdeError, match="there is no such game"):
        counter.begin({"seed": "refused"})
    assert counter.begin({"seed": 1}).labels["pid"] == before
    counter.close()


def test_a_simulator_is_recycled_after_some_games() -> None:
    counter = host(limits=HostConfig(recycle_games=2))
    pids = [counter.begin({"seed": seed}).labels["pid"] for seed in range(5)]
    counter.close()
    assert [pids.index(each) for each in pids] == [0, 0, 2, 2, 4]
    assert all(gone(int(each)) for each in pids)


@pytest.mark.skipif(
    not Path("/proc").exists(), reason="the system does not say what a process holds"
)
def test_a_simulator_is_recycled_when_it_leaks() -> None:
    counter = host(limits=HostConfig(recycle_megabytes=150), leak=100)
    pids = [counter.begin({"seed": seed}).labels["pid"] for seed in range(3)]
    counter.close()
    assert 1 < len({*pids}) <= 3


def test_nothing_is_left_behind() -> None:
    environment = counting()
    environment.reset(0)
    process = pid(environment)
    environment.close()
    environment.close()
    assert gone(process)
    environment.reset(0)
    process = pid(environment)
    del environment
    assert gone(process)


ASKING = """
from test_hosting import host

employer = host("Employer", actions=["HANG"])
print(*employer.begin({"seed": 0}).labels.values(), flush=True)
employer.step("HANG")
"""


def test_a_simulator_ends_with_whoever_asked_however_busy_it_is() -> None:
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", ASKING], stdout=subprocess.PIPE, text=True, env=path
    ) as asking:
        assert asking.stdout is not None
        processes = [int(word) for word in asking.stdout.readline().split()]
        time.sleep(0.3)
        asking.kill()
    assert len(processes) == 2
    until = time.monotonic() + 10
    while not all(map(over, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    assert all(map(over, processes))


def test_actions_that_are_not_admissible_and_games_that_are_over() -> None:
    environment = counting()
    with pytest.raises(ValueError, match="call reset first"):
        environment.task()
    with pytest.raises(ValueError, match="has not begun"):
        environment.step("ADD")
    environment.reset(0)
    with pytest.raises(
        ValueError, match="wanted one of 7 admissible actions, got 'FLY'"
    ):
        environment.step("FLY")
    for action in environment.demonstration():
        environment.step(action)
    assert environment.demonstration() == ()
    with pytest.raises(ValueError, match="over"):
        environment.step("ADD")
    environment.close()


def test_a_hanging_episode_fails_and_the_others_go_on(tmp_path: Path) -> None:
    """In a run: one of three episodes meets a simulator that hangs; the rest are
    finished.
    """
    lives = iter(range(100))

    def agent() -> ScriptedAgent:
        return ScriptedAgent(("HANG",) if next(lives) == 1 else ("ADD",) * 3)

    plan = Plan(
        environment=lambda: counting(step_seconds=0.5),
        agent=agent,
        episodes=3,
    )
    started = time.monotonic()
    result = evaluate(plan, tmp_path / "run")
    assert time.monotonic() - started < 60
    endings = [one.ending for one in load_evidence(Path(result.run)).trajectories]
    assert sorted(endings).count("terminated") == 2
    assert "took longer than 0.5 s" in str(result.failures)


def test_children_are_reaped() -> None:
    environment = counting(step_seconds=0.3)
    environment.reset(0)
    with pytest.raises(SimulatorFailed):
        environment.step("HANG")
    with pytest.raises(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) == (0, 0):
            pytest.skip("other children are running")
