"""Steps a second of each simulator hosted, beside its own loop in the same run, and of
two processes at once.

    python benchmarks/bench_text_worlds.py [STEPS] [NAME...]

At most 10 % is to be lost to the host. All loops play the same game with the same
actions and ask for the same: what is seen, the score, and the admissible actions. They
take turns. To look around over and over changes nothing in a world, so that what is
remembered of it helps most; `textworld-walk` takes admissible actions by chance. On a
machine that has other things to do, wall time says how long a process waits for its
turn; the CPU time of a step, of both processes and whatever they start, says what it
costs, and shares are medians over turns.

A simulator that waits for its next action finds the processor's caches filled by
others, whoever asks, so that its own loop is timed as well with a pause of a
millisecond after each step. What a question and its answer cost is asked of a simulator
that does nothing. Prints one JSON object. A simulator that is not installed is left
out.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import mkdtemp
from typing import Any

from sizes import size

from gde.offers import AnyOffer
from gde.request.settings import build
from gde.testing.context import PlainContext
from gde_plugins.text_worlds.environment import SimulatedEnvironment
from gde_plugins.text_worlds.hosting.process import SimulatorProcess
from gde_plugins.text_worlds.plugin import gde_environments

STEPS = size(100, 1)
ROUNDS = size(9, 1)
PAUSE = 0.001
TRIES = 20
"""Walks by chance, until one does not end the game."""
WORLDS: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "textworld": ("textworld", {"game": "treasure-hunt", "level": 15}, "look"),
    "textworld-walk": (
        "textworld",
        {"game": "custom", "rooms": 6, "objects": 12, "quest_length": 5},
        "",
    ),
    "alfworld": ("alfworld", {"split": "made"}, "look"),
    "scienceworld": (
        "scienceworld",
        {"task": "lifespan-longest-lived", "variations": 1},
        "look around",
    ),
}
"""Environment and settings of each, and an action that can be taken again and again,
else a walk by chance.
"""
OFFERS = {offer.name: offer for offer in gde_environments()}


def cpu_seconds(group: int) -> float:
    """CPU time so far of all threads of a process and of whatever it has started."""
    nanoseconds = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[2]) == group:
                nanoseconds += sum(
                    int(each.read_text().split()[0])
                    for each in stat.parent.glob("task/*/schedstat")
                )
    return nanoseconds / 1e9


def timed(call: Callable[[], object], group: int) -> tuple[float, float]:
    """Wall seconds of a call that makes a process work, and CPU seconds of both."""
    theirs, wall, own = cpu_seconds(group), time.perf_counter(), time.thread_time()
    call()
    wall, own = time.perf_counter() - wall, time.thread_time() - own
    return wall, own + cpu_seconds(group) - theirs


def rest(seconds: float) -> None:
    """Give the processor away, if only for a moment."""
    if seconds:
        time.sleep(seconds)


class Echo:
    """Gives the same answer to everything."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def step(self, _: str) -> object:
        return self._answer

    def close(self) -> None:
        """Nothing runs beside it."""


class TextworldLoop:
    """As TextWorld's users write it."""

    def __init__(self, game: Mapping[str, Any], folder: str) -> None:
        import textworld
        from textworld import EnvInfos

        from gde_plugins.text_worlds.textworld.games import game_file

        wanted = EnvInfos(
            admissible_commands=True,
            score=True,
            max_score=True,
            won=True,
            lost=True,
            objective=True,
        )
        self._env = textworld.start(str(game_file(Path(folder), game)), wanted)

    def begin(self) -> None:
        self._env.reset()

    def walk(self, actions: Sequence[str], pause: float) -> None:
        for action in actions:
            state, _, _ = self._env.step(action)
            assert state.admissible_commands
            rest(pause)

    def close(self) -> None:
        """End the game."""
        self._env.close()


class AlfworldLoop:
    """As ALFWorld makes its environments."""

    def __init__(self, game: Mapping[str, Any], folder: str) -> None:
        os.environ["ALFWORLD_DATA"] = folder
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler
        from textworld import EnvInfos
        from textworld.envs import PddlEnv

        from gde_plugins.text_worlds.alfworld.generation import made_game

        self._env = AlfredDemangler(
            PddlEnv(EnvInfos(won=True, admissible_commands=True, score=True)),
            shuffle=False,
        )
        self._env.load(str(made_game(Path(folder), game)))

    def begin(self) -> None:
        self._env.reset()

    def walk(self, actions: Sequence[str], pause: float) -> None:
        for action in actions:
            state, _, _ = self._env.step(action)
            assert state["admissible_commands"]
            rest(pause)

    def close(self) -> None:
        """Nothing runs beside it."""


class ScienceworldLoop:
    """As ScienceWorld's users write it: its step looks, lists and describes by
    itself.
    """

    def __init__(self, game: Mapping[str, Any], folder: str) -> None:  # noqa: ARG002
        from scienceworld import ScienceWorldEnv

        self._env = ScienceWorldEnv("", envStepLimit=10**9)
        self._env.load(game["task"], game["variation"], "")

    def begin(self) -> None:
        self._env.reset()

    def walk(self, actions: Sequence[str], pause: float) -> None:
        for action in actions:
            _, _, _, infos = self._env.step(action)
            assert infos["valid"]
            rest(pause)

    def close(self) -> None:
        """End the Java machine."""
        self._env.close()


def walk(environment: SimulatedEnvironment, actions: Sequence[str]) -> None:
    """Some steps of an environment in a game that has begun."""
    for action in actions:
        environment.step(action)


def asked(process: SimulatorProcess, actions: Sequence[str]) -> None:
    """Steps of a process, answers not looked at."""
    for action in actions:
        process.ask("step", action, seconds=600)


def by_chance(environment: SimulatedEnvironment, steps: int) -> list[str]:
    """Admissible actions that do not end the game, found by trying."""
    for seed in range(TRIES):
        rng, now, taken = random.Random(seed), environment.reset(0), []
        while len(taken) < steps:
            taken.append(rng.choice(now.actions or ()))
            outcome = environment.step(taken[-1])
            if outcome.terminated:
                break
            now = outcome.observation
        else:
            return taken
    raise SystemExit(
        f"each of {TRIES} walks by chance ended the game before {steps} steps"
    )


def measured(name: str, steps: int) -> dict[str, float]:
    """What a step takes in all ways, the median of rounds."""
    environment, settings, action = WORLDS[name]
    offer, context = OFFERS[environment], PlainContext()

    def make() -> SimulatedEnvironment:
        environment: SimulatedEnvironment = offer.made(
            build(offer.config, settings, "env"), context
        )
        environment.reset(0)
        return environment

    pair = [make(), make()]
    process = pair[0]._host._process
    assert process is not None
    actions = [action] * steps if action else by_chance(pair[0], steps)
    made_with = {
        "game": dict(pair[0]._games.game(0)),
        "folder": mkdtemp(prefix="gde-bench-"),
    }
    own = SimulatorProcess(
        environment, f"bench_text_worlds:{environment.capitalize()}Loop", made_with
    )
    echo = SimulatorProcess(
        "echo",
        "bench_text_worlds:Echo",
        {"answer": process.ask("step", actions[0], seconds=600)},
    )

    def own_loop(pause: float) -> tuple[float, float]:
        own.ask("begin", seconds=600)
        return timed(
            lambda: own.ask("walk", actions, pause, seconds=600), own._process.pid
        )

    def hosted() -> tuple[float, float]:
        pair[0].reset(0)
        return timed(lambda: walk(pair[0], actions), process._process.pid)

    asked(echo, actions[:2])
    rounds = [
        (
            *own_loop(0),
            own_loop(PAUSE)[1],
            *hosted(),
            timed(lambda: asked(echo, actions), echo._process.pid)[1],
        )
        for _ in range(ROUNDS)
    ]
    for each in pair:
        each.reset(0)
    with ThreadPoolExecutor(2) as threads:
        start = time.perf_counter()
        list(threads.map(lambda each: walk(each, actions), pair))
        both = time.perf_counter() - start
    for each in (*pair, own, echo):
        each.close()
    own_wall, own_cpu, paused_cpu, wall, cpu, protocol = (
        median(column) for column in zip(*rounds, strict=True)
    )
    return {
        "own_steps_per_s": steps / own_wall,
        "hosted_steps_per_s": steps / wall,
        "two_processes_steps_per_s": 2 * steps / both,
        "own_cpu_ms_per_step": 1000 * own_cpu / steps,
        "own_paused_cpu_ms_per_step": 1000 * paused_cpu / steps,
        "hosted_cpu_ms_per_step": 1000 * cpu / steps,
        "hosted_over_own": median(one[4] / one[1] for one in rounds),
        "hosted_over_own_paused": median(one[4] / one[2] for one in rounds),
        "protocol_cpu_ms_per_step": 1000 * protocol / steps,
    }


def lacking(offer: AnyOffer) -> tuple[str, ...]:
    """What is not installed here."""
    return (*offer.missing(), *offer.missing_programs())


def main() -> None:
    """Measure what is installed and print."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else STEPS
    wanted = sys.argv[2:] or size([*WORLDS], ["textworld"])
    there = [name for name in wanted if not lacking(OFFERS[WORLDS[name][0]])]
    sys.stdout.write(
        json.dumps({"steps": steps, **{name: measured(name, steps) for name in there}})
        + "\n"
    )


if __name__ == "__main__":
    main()
