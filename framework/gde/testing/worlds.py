"""Small worlds: one without an MDP, and one for free text."""

from dataclasses import dataclass, field
from hashlib import sha256

from gde.data.observation import Observation, Optimum, Outcome, Task, World
from gde.seeding import generator

LONGEST = 5_000
"""Characters of the longest dictated line."""
LETTERS = "abé\u4e16 \t\"'\\{}"


@dataclass
class Recipe:
    """Steps to take in the order shown. Each right step adds to success.

    Gives OPTIMUM and DEMONSTRATION, both from the expert's way, and nothing else. It
    has no MDP, and replay restores its states.
    """

    length: int = 4
    _order: tuple[str, ...] = field(default=(), init=False)
    _done: int = field(default=0, init=False)

    def reset(self, seed: int) -> Observation:
        shuffled = generator(seed, "recipe").permutation(list(self._steps))
        self._order = tuple(shuffled.tolist())
        self._done = 0
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective="Take the steps in the order of the recipe.",
            horizon=3 * self.length,
        )

    def world(self) -> World:
        return World(id=" ".join(self._order), facts={"order": self._order})

    def step(self, action: str) -> Outcome:
        if action not in self._steps:
            raise ValueError(
                f"the recipe takes {' or '.join(self._steps)}, got {action!r}"
            )
        if self._done == self.length:
            raise ValueError("the episode is over: call reset")
        self._done += action == self._order[self._done]
        if self._done == self.length:
            return Outcome.terminal(self._observe(), 1.0, success=1.0)
        return Outcome.running(self._observe(), success=self._done / self.length)

    def optimum(self) -> Optimum:
        left = self._order[self._done :]
        return Optimum(
            actions=left[:1], value=-float(len(left)), means="the expert's way"
        )

    def demonstration(self) -> tuple[str, ...]:
        return self._order[self._done :]

    def close(self) -> None:
        """Nothing to release."""

    @property
    def _steps(self) -> tuple[str, ...]:
        return tuple(f"STEP{i}" for i in range(self.length))

    def _observe(self) -> Observation:
        return Observation(
            text=f"{' '.join(self._order)}; {self._done} taken", actions=self._steps
        )


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
