"""A world of free text."""

from dataclasses import dataclass, field
from hashlib import sha256

from gde.data.observation import Observation, Optimum, Outcome, Task, World
from gde.seeding import generator

LONGEST = 5_000
"""Characters of the longest dictated line."""
LETTERS = "abé\u4e16 \t\"'\\{}"


@dataclass
class Dictation:
    """Lines of any length to copy as free text.

    An action copies the next lines, at best all of them.

    Gives OPTIMUM. Success is the share of copied lines. A text with a wrong line copies
    none.
    """

    lines: int = 3
    _dictated: tuple[str, ...] = field(default=(), init=False)
    _written: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        rng = generator(seed, "dictation")
        # The first two lines are the shortest and the longest.
        lengths = (0, LONGEST, *rng.integers(1, 60, self.lines))
        lines = []
        for length in lengths[: self.lines]:
            letters = "".join(rng.choice(list(LETTERS), length))
            lines.append(f"<{letters}>")
        self._dictated = tuple(lines)
        self._written = 0
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective="Write down the lines that you are shown.", horizon=2 * self.lines
        )

    def world(self) -> World:
        digest = sha256(repr(self._dictated).encode()).hexdigest()
        return World(id=digest[:16], facts={"lines": self._dictated})

    def step(self, action: str) -> Outcome:
        if self._written == self.lines:
            raise ValueError("the episode is over: call reset")
        lines = tuple(action.split("\n"))
        if lines == self._dictated[self._written : self._written + len(lines)]:
            self._written += len(lines)
        success = self._written / self.lines
        if self._written == self.lines:
            return Outcome.terminal(self._observe(), 1.0, success=success)
        return Outcome.running(self._observe(), success=success)

    def optimum(self) -> Optimum:
        left = self._dictated[self._written :]
        return Optimum(
            actions=("\n".join(left),) if left else (),
            value=-1.0 if left else -0.0,
            means="the text itself",
        )

    def close(self) -> None:
        """Nothing to release."""

    def _observe(self) -> Observation:
        return Observation(text="\n".join(self._dictated[self._written :]))
