"""Many episodes of each simulator: memory stays bounded, and no process is left. Prints
one JSON object.

    python benchmarks/soak_text_worlds.py [EPISODES] [NAME...]

Episodes are short walks at random; a world is begun 25 times before the next one is
made, because making a game takes longer than playing it. Exits with 1 when memory went
beyond its bound or a process was left behind.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from sizes import size

from gde.request.settings import build
from gde.seeding import generator
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.environment import SimulatedEnvironment
from gde_plugins.text_worlds.plugin import gde_environments

EPISODES = size(2000, 1)
TURNS, MEGABYTES = 3, 2000
PER_WORLD = 25
"""Episodes of a world."""
SETTINGS: dict[str, dict[str, Any]] = {
    "textworld": {"game": "treasure-hunt", "level": 5},
    "alfworld": {"split": "made", "receptacles": 8, "objects": 5},
    "scienceworld": {"task": "find-animal", "listed": False},
}
TEXTS = ("look around", "inventory", "open door to hallway", "go to hallway", "dance")
"""What is tried where no actions are listed."""


def walk(environment: SimulatedEnvironment, episode: int) -> int:
    """Turns of one episode."""
    rng = generator(episode, "soak")
    shown = environment.reset(episode // PER_WORLD)
    for turn in range(TURNS):
        outcome = environment.step(str(rng.choice(shown.actions or TEXTS)))
        shown = outcome.observation
        if outcome.terminated:
            return turn + 1
    return TURNS


def processes(zombies: bool) -> list[int]:
    """Processes that have begun since this one did, or those of them that nobody has
    reaped.
    """
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and (state == "Z" or not zombies):
            found.append(int(stat.parent.name))
    return found


def soaked(name: str, episodes: int) -> dict[str, float]:
    """What it took, and what was left."""
    offer = next(offer for offer in gde_environments() if offer.name == name)
    config = build(
        offer.config, {**SETTINGS[name], "recycle_megabytes": MEGABYTES}, "env"
    )
    environment: SimulatedEnvironment = offer.made(config, PlainContext())
    start, turns, largest, replaced, seen = time.monotonic(), 0, 0.0, 0, None
    for episode in range(episodes):
        turns += walk(environment, episode)
        process = environment._host._process
        assert process is not None
        replaced += process is not seen and seen is not None
        seen = process
        if episode % 20 == 19:
            largest = max(largest, process.megabytes())
    zombies = len(processes(zombies=True))
    environment.close()
    return {
        "episodes": episodes,
        "turns": turns,
        "seconds": time.monotonic() - start,
        "largest_mib": largest,
        "simulators_replaced": replaced,
        "zombies": zombies,
        "left_behind": len(processes(zombies=False)),
    }


def main() -> int:
    """Soak what is named, or all."""
    episodes = int(sys.argv[1]) if len(sys.argv) > 1 else EPISODES
    figures = {
        name: soaked(name, episodes)
        for name in sys.argv[2:] or size([*SETTINGS], ["textworld"])
    }
    sys.stdout.write(json.dumps(figures) + "\n")
    most = 1.2 * MEGABYTES
    bad = [
        each
        for each in figures.values()
        if each["zombies"] or each["left_behind"] or each["largest_mib"] > most
    ]
    return int(bool(bad))


if __name__ == "__main__":
    raise SystemExit(main())
