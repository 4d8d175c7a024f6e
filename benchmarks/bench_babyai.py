"""How fast BabyAI worlds are here, beside minigrid itself: `python
benchmarks/bench_babyai.py`. Prints one JSON object.

A step with its text beside minigrid's own step with its picture; a mission solved by
the expert beside minigrid's bot on the maze levels; bounds of the optimum; rows of the
datasets. All in time of the processor, on one core.
"""

import json
import random
import sys
import time
from collections.abc import Callable
from itertools import product
from statistics import median
from typing import Any

import gymnasium
import minigrid  # noqa: F401  # registers the levels
from minigrid.utils.baby_ai_bot import BabyAIBot
from sizes import size

from gde_plugins.babyai.config import BabyAIConfig
from gde_plugins.babyai.environment import BabyAIEnvironment
from gde_plugins.babyai.oracle.bot import OmniBot
from gde_plugins.babyai.oracle.certificate import Certificates
from gde_plugins.babyai.tasks.asked import KINDS
from gde_plugins.babyai.tasks.datasets import make_row
from gde_plugins.babyai.worlds.generation import make_scene
from gde_plugins.babyai.worlds.levels import PAPER_LEVELS, environment_id
from gde_plugins.babyai.worlds.simulation import Simulation

TURNS = size(200, 5)
SEEDS = size(range(1, 6), range(1, 2))
CERTIFIED = size(range(1, 41), range(1, 2))
TRIES = size(5, 1)
LEVELS = size(PAPER_LEVELS, PAPER_LEVELS[6:7])
MAZES = tuple(level for level in LEVELS if level not in PAPER_LEVELS[:6])


def theirs(level: str, seed: int) -> Any:
    """The level as gymnasium makes it, without wrappers."""
    world = gymnasium.make(environment_id(level)).unwrapped
    world.reset(seed=seed)
    return world


def seconds(work: Callable[[], object]) -> float:
    """Of the processor, the median of a few tries."""
    times = []
    for _ in range(TRIES):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return median(times)


def step_times(level: str) -> tuple[float, float]:
    """Microseconds of a step: minigrid's own, and ours with its text."""
    ours = BabyAIEnvironment(BabyAIConfig(level=level, release="3.2", search=0))
    ours.reset(2)
    start, world = ours.snapshot(), theirs(level, 2)
    actions = [random.Random(0).choice(range(3)) for _ in range(TURNS)]
    names = [("left", "right", "forward")[action] for action in actions]

    def play() -> None:
        ours.restore(start)
        for name in names:
            ours.step(name)
            if ours.now.over:
                ours.restore(start)

    return tuple(
        1e6 * seconds(work) / TURNS
        for work in (lambda: [world.step(a) for a in actions], play)
    )  # type: ignore[return-value]


def mission_times(level: str) -> tuple[float, float]:
    """Milliseconds of a solved mission: by minigrid's bot in minigrid, and by ours in
    our world.
    """
    theirs_total = ours_total = 0.0
    for seed in SEEDS:
        world = theirs(level, seed)
        started = time.process_time()
        bot, ended = BabyAIBot(world), False
        action = bot.replan(None)
        while not ended:
            _, _, terminated, truncated, _ = world.step(action)
            ended = terminated or truncated
            action = None if ended else bot.replan(action)
        theirs_total += time.process_time() - started
        now = Simulation(make_scene(level, seed, "3.2"))
        started = time.process_time()
        expert = OmniBot(now)
        while not now.over and (suggested := expert.suggest(now)):
            now.act(suggested)
        ours_total += time.process_time() - started
        assert now.succeeded
    return 1e3 * theirs_total / len(SEEDS), 1e3 * ours_total / len(SEEDS)


def certification_time() -> float:
    """Milliseconds that the bounds of a turn take, on the expert's walks in BossLevel."""
    total, turns = 0.0, 0
    for seed in CERTIFIED:
        now = Simulation(make_scene("BossLevel", seed, "3.0"))
        expert = OmniBot(now)
        certificates = Certificates(BabyAIConfig().search)
        while not now.over and (suggested := expert.suggest(now)):
            started = time.process_time()
            certificates.bounds(now)
            total += time.process_time() - started
            turns += 1
            now.act(suggested)
    return 1e3 * total / turns


def row_time(task: str) -> float:
    """Milliseconds of a row of a dataset, over all levels."""
    worlds = [*product(LEVELS, SEEDS)]
    started = time.process_time()
    for world in worlds:
        make_row(task, "3.0", "structured", world)
    return 1e3 * (time.process_time() - started) / len(worlds)


def main() -> None:
    """Print the figures; wanted are steps and missions faster than minigrid's, missions
    on mazes five times.
    """
    steps = {level: step_times(level) for level in ("GoToLocal", "BossLevel")}
    missions = {level: mission_times(level) for level in MAZES}
    figures = {
        "microseconds of a step: minigrid, here": {
            level: [*map(round, pair)] for level, pair in steps.items()
        },
        "milliseconds of a mission: minigrid, here": {
            level: [round(theirs_, 1), round(ours, 1)]
            for level, (theirs_, ours) in missions.items()
        },
        "times faster, least": round(
            min(slow / fast for slow, fast in missions.values()), 1
        ),
        "milliseconds of a certified turn of BossLevel": round(certification_time(), 2),
        "milliseconds of a row": {task: round(row_time(task), 1) for task in KINDS},
    }
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
