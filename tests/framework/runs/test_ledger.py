"""Budgets are hard under SIGKILL at random moments.

GDE_KILLS says how many runs are killed (`nox -s faults`).
"""

import os
import random
import time
from pathlib import Path

import pytest
from killing import Run

from gde import Choice, How, Plan
from gde.before.spending import spending

CALLS = 15
PAUSE = 0.1
"""Seconds of an answer: four at a time, 15 take .4 s."""
RUNS = int(os.environ.get("GDE_KILLS", 3))
"""Runs, each of which is killed several times."""


@pytest.mark.extended
@pytest.mark.timeout(0)
@pytest.mark.parametrize("executor", ["serial", "processes"])
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_killed_run_asks_no_more_than_it_may(
    seed: int, executor: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    plan = Plan(
        environment="long-corridor",
        agent="asking-logged",
        models=[Choice(name="", config={"log": str(log), "pause": PAUSE})],
        metrics=["success"],
        episodes=12,
    )
    how = How(concurrency=4, max_calls=CALLS, executor=executor)
    moments = random.Random(seed)
    kills = 0
    for _ in range(20):
        asked = lines(log)
        run = Run(plan, tmp_path / "run", how)
        # Workers take seconds to start on a busy machine.
        while lines(log) == asked and run.process.is_alive():
            time.sleep(0.005)
        # At most half the time that all calls take, so that the first kill finds calls left.
        time.sleep(moments.uniform(0, 2 * PAUSE))
        if not run.kill():
            break
        kills += 1
    assert kills
    assert 0 < lines(log) <= CALLS
    found = spending(tmp_path / "run")
    assert found.limits[0].spent <= CALLS
    print(f"{executor}, seed {seed}: {kills} kills, {lines(log)} of {CALLS} asked")  # noqa: T201 - for docs/faults.md


def lines(log: Path) -> int:
    """The requests that a model has noted."""
    return len(log.read_text().splitlines()) if log.exists() else 0
