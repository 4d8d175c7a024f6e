"""CPU that the harness itself takes: per turn of a scripted agent, and to start. Prints
one JSON object.

    python benchmarks/bench_harness.py

At most 0.15 ms a turn is wanted for rollout, journal and scoring together, and 0.2 s
for `gde --help`. What worlds, their solutions and the agent take is no doing of the
harness: in the same run a bare loop plays the same episodes, records nothing and
measures nothing, and what it takes is left out. Of each the best of three rounds
counts, for others use the machine too. The peer of the journal is the naive one that
commits every turn by itself with a flush to the disk. Slow steps, each 10 ms of
waiting, are to pass side by side.
"""

import json
import os
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Coroutine, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from no_page import NoPage
from sizes import size

from gde import Choice, How, Plan, load_evidence
from gde.data.observation import Outcome
from gde.data.trajectory import Decision, Trajectory
from gde.numerics.tabular import solve
from gde.offers import Capability, EnvironmentOffer, NoConfig
from gde.parts.agent import Brief
from gde.runs.evaluating import evaluate
from gde.stages.context import agent_seed
from gde.testing.parts import RIGHT, Corridor, ScriptedAgent
from gde_plugins.baselines.agents import RandomAgent
from gde_plugins.grid.config import GridConfig
from gde_plugins.grid.environment import GridEnvironment

EPISODES = size(300, 2)
SIZE = size(15, 7)
ROUNDS = size(3, 1)
SOLVED = frozenset({Capability.STATE, Capability.MDP})
WAIT = 0.01
"""Seconds of a slow step."""
METRICS = tuple(
    Choice(name=name) for name in ("success", "accuracy", "outcomes", "length")
)

UNPRINTED = How(reporters=(NoPage,))


def plan(episodes: int) -> Plan:
    """A random agent on 15x15 grids, with all behaviour metrics and without a page."""
    grid = Choice(name="grid", config={"size": SIZE})
    return Plan(
        environment=grid,
        agent="random",
        episodes=episodes,
        metrics=METRICS,
    )


class Slow(Corridor):
    """Waits at every step, as an emulator in another process would."""

    def step(self, action: str) -> Outcome:
        """After a while."""
        time.sleep(WAIT)
        return super().step(action)


def slow_steps(run: Path) -> dict[str, float]:
    """Wall time of some slow steps, 32 episodes at once, and what they would take one
    after another.
    """
    slow = EnvironmentOffer(
        name="slow",
        summary="",
        config=NoConfig,
        make=lambda _, __: Slow(),
        gives=SOLVED,
        blocking=True,
    )
    plan = Plan(
        environment=Choice(name="slow", part=slow),
        agent=walker,
        episodes=134,
        metrics=METRICS,
    )
    start = time.perf_counter()
    result = evaluate(plan, run, how=UNPRINTED)
    wall = time.perf_counter() - start
    steps = sum(
        len(trajectory.turns)
        for trajectory in load_evidence(Path(result.run)).trajectories
    )
    return {"steps": steps, "wall_s": wall, "one_by_one_s": steps * WAIT}


def walker() -> ScriptedAgent:
    """The shortest way through a corridor."""
    return ScriptedAgent((RIGHT,))


def played(trajectories: Sequence[Trajectory]) -> float:
    """CPU seconds to play the same episodes in a bare loop: worlds made and solved, the
    agent asked, steps taken.
    """
    environment = GridEnvironment(GridConfig(size=SIZE))
    start = time.process_time()
    for trajectory in trajectories:
        observation = environment.reset(trajectory.seed)
        task, agent = environment.task(), RandomAgent()
        environment.world()
        agent.begin(Brief(task=task, seed=agent_seed(0, trajectory.key)))
        for turn in trajectory.turns:
            best = solve(environment.mdp()).optimal[environment.state().index]
            action = answered(agent.act(observation)).action
            if action != turn.decision.action or environment.mdp().actions[
                best.argmax()
            ] not in (turn.optimal or ()):
                raise RuntimeError("the bare loop plays other episodes")
            observation = environment.step(action).observation
    return time.process_time() - start


def answered(acting: Coroutine[Any, Any, Decision]) -> Decision:
    """What an agent decides that waits for nothing."""
    try:
        acting.send(None)
    except StopIteration as end:
        decision: Decision = end.value
        return decision
    raise RuntimeError("the agent waits")


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        # What is loaded once is not a cost of a turn.
        evaluate(plan(2), Path(folder) / "imports", how=UNPRINTED)
        took = []
        for number in range(ROUNDS):
            start = time.process_time()
            result = evaluate(
                plan(EPISODES), Path(folder) / f"run{number}", how=UNPRINTED
            )
            took.append(time.process_time() - start)
        cpu = min(took)
        trajectories = load_evidence(Path(result.run)).trajectories
        n = sum(len(trajectory.turns) for trajectory in trajectories)
        texts = [
            turn.observation.text
            for trajectory in trajectories
            for turn in trajectory.turns
        ]
        bare = min(played(trajectories) for _ in range(ROUNDS))
        slow = slow_steps(Path(folder) / "slow")
        size, naive = (
            record_bytes(Path(result.run)),
            naive_journal(Path(folder) / "naive.sqlite", texts),
        )
    figures = {
        "turns": n,
        "cpu_ms_per_turn": 1000 * cpu / n,
        "bare_loop_ms_per_turn": 1000 * bare / n,
        "harness_ms_per_turn": 1000 * (cpu - bare) / n,
        "record_bytes_per_turn": size / n,
        "naive_journal_ms_per_turn": 1000 * naive / n,
        "naive_journal_over_whole_harness": naive / cpu,
        "slow_steps": slow,
        "help_cpu_s": min(start_up("--help") for _ in range(ROUNDS)),
        "plugins_cpu_s": min(start_up("plugins") for _ in range(ROUNDS)),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def record_bytes(run: Path) -> int:
    """Size of the record."""
    return sum(path.stat().st_size for path in run.glob("run.sqlite*"))


def naive_journal(path: Path, texts: list[str]) -> float:
    """Wall time to write the same observations, one synchronous commit a turn."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE turns (text TEXT)")
        start = time.perf_counter()
        for text in texts:
            connection.execute("INSERT INTO turns VALUES (?)", (text,))
        return time.perf_counter() - start


def start_up(command: str) -> float:
    """CPU seconds, user and system, of one command in a fresh process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "gde", command],
        check=True,
        stdout=subprocess.DEVNULL,
        env=os.environ,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
