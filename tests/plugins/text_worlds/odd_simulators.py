"""Simulators that do what simulators do: count, print, hang, die, leak and answer
nonsense.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gde.errors import GdeError
from gde_plugins.text_worlds.hosting.simulator import Opening, Shown

GOAL = 3
ACTIONS = ("ADD", "PRINT", "HANG", "DIE", "RAISE", "QUIT", "GARBAGE")


class Counter:
    """Reaches its goal with three ADD."""

    def __init__(self, actions: Sequence[str] = ("ADD", "LOOK"), leak: int = 0) -> None:
        self._actions, self._leak = tuple(actions), leak
        self._kept: list[bytes] = []

    def begin(self, game: Mapping[str, Any]) -> Opening:
        if game.get("seed") == "refused":
            raise GdeError("there is no such game")
        self._kept.append(os.urandom(self._leak << 20))
        self._count, self._start = 0, str(game)
        return Opening(
            shown=self._shown(0),
            objective="count to three",
            id=self._start,
            labels={"pid": os.getpid()},
        )

    def step(self, action: str) -> Shown:
        match action:
            case "ADD":
                self._count += 1
                return self._shown(1)
            case "PRINT":
                print("hello from Python", flush=True)  # noqa: T201
                os.system("echo hello from a shell")
                sys.__stdout__.write("hello again\n")
            case "HANG":
                # As C code would: no Python handler is ever called.
                signal.pthread_sigmask(
                    signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT]
                )
                time.sleep(600)
            case "DIE":
                sys.stderr.write("Segmentation what?\n")
                os.kill(os.getpid(), signal.SIGSEGV)
            case "RAISE":
                raise KeyError("val1")
            case "QUIT":
                sys.exit("the planner found nothing")
        return self._shown(0)

    def demonstration(self) -> Sequence[str]:
        return ["ADD"] * (GOAL - self._count)

    def close(self) -> None:
        """Nothing runs beside it."""

    def _shown(self, reward: float) -> Shown:
        ended = self._count == GOAL
        actions = () if ended else self._actions
        return Shown(
            text=f"{self._count}",
            actions=actions,
            reward=reward,
            success=self._count / GOAL,
            ended=ended,
        )


class Employer(Counter):
    """Starts another program, and tells its number."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        helper = subprocess.Popen(["sleep", "600"])
        return replace(
            super().begin(game), labels={"pid": os.getpid(), "helper": helper.pid}
        )


class Babbler(Counter):
    """Writes to where its answers go."""

    def begin(self, game: Mapping[str, Any]) -> Opening:
        for pipe in range(3, 20):
            try:
                os.write(pipe, b"no JSON at all\n")
            except OSError:
                continue
        return super().begin(game)


class Unmade:
    """Cannot be made."""

    def __init__(self) -> None:
        raise GdeError("needs Java")
