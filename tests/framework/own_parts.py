"""Parts as somebody has them in a module of their own: no plugin, no names, handed on
as objects.
"""

import atexit
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from gde import (
    Brief,
    Decision,
    Evidence,
    Measurement,
    Observation,
    Outcome,
    UnknownName,
)
from gde.testing.parts import Corridor


def go_right(observation: Observation) -> str:
    return "RIGHT" if "A" in observation.text else "LEFT"


@dataclass
class Counting:
    """Goes RIGHT, and knows how often: an agent that carries something from turn to
    turn.
    """

    steps: list[int] = field(default_factory=list)

    def begin(self, brief: Brief) -> None:
        assert not self.steps, "another episode has used this object"

    async def act(self, observation: Observation) -> Decision:
        self.steps.append(len(self.steps))
        return Decision.act("RIGHT")


class Slow(Counting):
    """Takes its time."""

    async def act(self, observation: Observation) -> Decision:
        time.sleep(0.02)
        return await super().act(observation)


class Dying(Counting):
    """Takes its whole process along in the second turn of an episode, as long as a file
    is there.
    """

    async def act(self, observation: Observation) -> Decision:
        if self.steps and Path(os.environ["OWN_PARTS_DEADLY"]).exists():
            os._exit(7)
        return await super().act(observation)


class Mined(Corridor):
    """Takes its whole process along in the third cell of the worlds that begin in the
    first.
    """

    def step(self, action: str) -> Outcome:
        outcome = super().step(action)
        if (self.start, self.at) == (0, 2):
            os._exit(7)
        return outcome


def mined() -> Corridor:
    return Mined(5)


class KilledOnce(Slow):
    """Is killed in the third turn of an episode, as whole processes are for want of
    memory; once.
    """

    async def act(self, observation: Observation) -> Decision:
        if len(self.steps) == 2:
            with suppress(FileExistsError):
                Path(os.environ["OWN_PARTS_DEADLY"]).touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
        return await super().act(observation)


class Locked(Counting):
    """Holds what cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()


def episodes(evidence: Evidence) -> Sequence[Measurement]:
    n = len(evidence.trajectories)
    return [Measurement(name="episodes.all", value=float(n), unit="episodes", n=n)]


def long_corridor() -> Corridor:
    return Corridor(12)


def share_of_cores(_: object) -> str:
    print("said aloud")  # noqa: T201
    return os.environ["OMP_NUM_THREADS"]


def process_of(_: object) -> int:
    return os.getpid()


def wait_long(seconds: float) -> None:
    time.sleep(seconds)


def write_at_exit(file: str) -> None:
    atexit.register(Path(file).write_text, "ended")


def stand_still(_: object) -> None:
    """Not even a thread of this process goes on."""
    os.kill(os.getpid(), signal.SIGSTOP)


class _Ignored:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __del__(self) -> None:
        raise self.error


def ignore(error: BaseException) -> None:
    """Raise it where Python can only report it."""
    _Ignored(error)


def hide_an_interrupt(seconds: float) -> None:
    try:
        wait_long(seconds)
    except KeyboardInterrupt:
        raise ValueError("this library has no interrupts") from None


def fail(kind: str) -> None:
    if kind == "name":
        raise UnknownName("agent", "nobody", ["somebody"])
    raise KeyError(kind)


def end_with(code: int) -> None:
    raise SystemExit(code)


def die_before_its_fork(seconds: int) -> None:
    """What it leaves behind goes on for as long."""
    if not os.fork():
        time.sleep(seconds)
        os._exit(0)
    die_by(signal.SIGKILL)


def die_by(number: int) -> None:
    os.kill(os.getpid(), number)
