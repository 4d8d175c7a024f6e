"""Small worlds with a demonstration, for recording."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from gde.data.observation import Observation, Outcome, Task, World

WAYS = ("left", "right", "look", "wait", "jump")


@dataclass
class Line:
    """Cells 0 to `length` in a line, from the middle to the right end; what is not a
    way does nothing.
    """

    length: int = 8
    play_on: bool = False
    ends_on: str = ""
    """An action that ends the episode without success."""
    pays: float = 0.0
    """What that action earns."""
    hopeless: bool = False
    """Whether its demonstration does not help."""
    seeds: list[int] = field(default_factory=list)
    closed: bool = False

    def reset(self, seed: int) -> Observation:
        self.at, self.over = self.length // 2, False
        self.seeds.append(seed)
        return self._observe()

    def task(self) -> Task:
        return Task(objective="Go to the right end.", horizon=50)

    def world(self) -> World:
        return World(id=f"line {self.seeds[-1]}", labels={"length": self.length})

    def step(self, action: str) -> Outcome:
        if self.over or action not in WAYS:
            raise ValueError(f"cannot {action}")
        self.at = max(
            0, min(self.length, self.at + {"left": -1, "right": 1}.get(action, 0))
        )
        reached = float(self.at == self.length)
        self.over = action == self.ends_on or (bool(reached) and not self.play_on)
        if self.over:
            earned = reached or self.pays
            return Outcome.terminal(self._observe(), earned, success=reached)
        return Outcome.running(self._observe(), reached, success=reached)

    def demonstration(self) -> Sequence[str]:
        return ["wait"] * 3 if self.hopeless else ["right"] * (self.length - self.at)

    def close(self) -> None:
        self.closed = True

    def _observe(self) -> Observation:
        return Observation(text=f"cell {self.at}", actions=WAYS)
