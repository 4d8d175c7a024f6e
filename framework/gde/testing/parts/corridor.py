"""The smallest world: a row of cells with the goal in the last."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np
from scipy.sparse import csr_array

from gde.data.json import Json
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome, State, Task, World
from gde.seeding import derive

ACTIONS = ("LEFT", "RIGHT")
LEFT, RIGHT = ACTIONS


@dataclass
class Corridor:
    """Cells 0..length-1 in a row, the goal in the last; the seed sets the start.

    Gives STATE, MDP, SNAPSHOT, SIMULATOR and MAP. Reaching the goal earns 1, the
    model's every step costs 1.
    """

    length: int = 3
    at: int = field(default=-1, init=False)
    """The agent's cell, -1 before the first reset."""
    start: int = field(default=-1, init=False)

    def reset(self, seed: int) -> Observation:
        self.at = self.start = derive(seed, "corridor") % (self.length - 1)
        return self._observe()

    def task(self) -> Task:
        return Task(
            objective="Reach the last cell.", horizon=3 * self.length, actions=ACTIONS
        )

    def world(self) -> World:
        wall = "#" * (self.length + 2)
        facts: dict[str, Json] = {
            "rows": [wall, f"#{'_' * self.length}#", wall],
            "goal": [1, self.length],
        }
        labels = {"distance": self.length - 1 - self.start}
        return World(id=f"{self.start} of {self.length}", facts=facts, labels=labels)

    def step(self, action: str) -> Outcome:
        if action not in ACTIONS:
            raise ValueError(
                f"the corridor takes {' or '.join(ACTIONS)}, got {action!r}"
            )
        if self.at == self.length - 1:
            raise ValueError("the episode is over: call reset")
        self.at = max(0, self.at - 1) if action == LEFT else self.at + 1
        if self.at == self.length - 1:
            return Outcome.terminal(self._observe(), 1.0, success=1.0)
        return Outcome.running(self._observe())

    def state(self) -> State:
        return State(facts={"agent": [1, self.at + 1]}, index=self.at)

    def mdp(self) -> TabularMDP:
        return _mdp(self.length, self.start)

    def snapshot(self) -> int:
        return self.at

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, int):
            raise ValueError(f"wanted a snapshot of this corridor, got {snapshot!r}")
        self.at = snapshot
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """Nothing to release."""

    def _observe(self) -> Observation:
        cells = ["_"] * (self.length - 1) + ["G"]
        cells[self.at] = "A"
        return Observation(text=f"#{''.join(cells)}#", actions=ACTIONS)


@cache
def _mdp(n: int, start: int) -> TabularMDP:
    cells = np.arange(n)
    terminal = cells == n - 1
    moves = (np.maximum(cells - 1, 0), np.minimum(cells + 1, n - 1))
    after = [np.where(terminal, cells, move) for move in moves]
    return TabularMDP(
        transition=tuple(
            csr_array((np.ones(n), (cells, to)), shape=(n, n)) for to in after
        ),
        start=(cells == start).astype(float),
        reward=np.where(terminal, 0.0, -1.0),
        terminal=terminal,
        actions=ACTIONS,
    )
