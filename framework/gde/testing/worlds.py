"""Small worlds that are no decision processes, take free text, or take their time."""

from dataclasses import dataclass, field
from hashlib import sha256
from threading import Event
from time import sleep

from gde.data.observation import Observation, Optimum, Outcome, Task, World
from gde.seeding import generator
from gde.testing.parts import Corridor

LONGEST = 5_000
"""Characters of the longest line that is dictated."""
LETTERS = "abé\u4e16 \t\"'\\{}"


@dataclass
class Recipe:
    """Steps to be taken in one order, which is shown; each that is taken rightly is a part of success.

    Gives OPTIMUM and DEMONSTRATION, as the expert's way says it, and nothing else: it has no decision process, and is
    put back by replay.
    """

    length: int = 4
    _order: tuple[str, ...] = field(default=(), init=False)
    _done: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        self._order = tuple(generator(seed, "recipe").permutation([*self._steps]).tolist())
        self._done = 0
        return self._observe()

    def task(self) -> Task:
        return Task(objective="Take the steps in the order of the recipe.", horizon=3 * self.length)

    def world(self) -> World:
        return World(id=" ".join(self._order), facts={"order": self._order})

    def step(self, action: str) -> Outcome:
        if action not in self._steps:
            raise ValueError(f"the recipe takes {' or '.join(self._steps)}, got {action!r}")
        if self._done == self.length:
            raise ValueError("the episode is over: call reset")
        self._done += action == self._order[self._done]
        if self._done == self.length:
            return Outcome.terminal(self._observe(), 1.0, success=1.0)
        return Outcome.running(self._observe(), success=self._done / self.length)

    def optimum(self) -> Optimum:
        left = self._order[self._done :]
        return Optimum(actions=left[:1], value=-float(len(left)), means="the expert's way")

    def demonstration(self) -> tuple[str, ...]:
        return self._order[self._done :]

    def close(self) -> None:
        """Nothing is held."""

    @property
    def _steps(self) -> tuple[str, ...]:
        return tuple(f"STEP{i}" for i in range(self.length))

    def _observe(self) -> Observation:
        return Observation(text=f"{' '.join(self._order)}; {self._done} taken", actions=self._steps)


@dataclass
class Dictation:
    """Lines of any length to be written down in free text, the next ones in each action, best all of them in one.

    Gives OPTIMUM. Success is the share of lines that have been written; a text with a wrong line writes none.
    """

    lines: int = 3
    _dictated: tuple[str, ...] = field(default=(), init=False)
    _written: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        rng = generator(seed, "dictation")
        lengths = (0, LONGEST, *rng.integers(1, 60, self.lines))
        self._dictated = tuple(f"<{''.join(rng.choice([*LETTERS], n))}>" for n in lengths[: self.lines])
        self._written = 0
        return self._observe()

    def task(self) -> Task:
        return Task(objective="Write down the lines that you are shown.", horizon=2 * self.lines)

    def world(self) -> World:
        return World(id=sha256(repr(self._dictated).encode()).hexdigest()[:16], facts={"lines": self._dictated})

    def step(self, action: str) -> Outcome:
        if self._written == self.lines:
            raise ValueError("the episode is over: call reset")
        said = tuple(action.split("\n"))
        if said == self._dictated[self._written : self._written + len(said)]:
            self._written += len(said)
        success = self._written / self.lines
        if self._written == self.lines:
            return Outcome.terminal(self._observe(), 1.0, success=success)
        return Outcome.running(self._observe(), success=success)

    def optimum(self) -> Optimum:
        left = self._dictated[self._written :]
        return Optimum(actions=("\n".join(left),) if left else (), value=-float(bool(left)), means="the text itself")

    def close(self) -> None:
        """Nothing is held."""

    def _observe(self) -> Observation:
        return Observation(text="\n".join(self._dictated[self._written :]))


@dataclass
class SlowCorridor(Corridor):
    """A corridor whose every step takes its time, and from one of whose cells no step ever comes back."""

    seconds: float = 0.01
    trap: int = -1
    """The cell, -1 for none."""

    def step(self, action: str) -> Outcome:
        if self.at == self.trap:
            Event().wait()
        sleep(self.seconds)
        return super().step(action)
