"""The common part of this plugin's worlds: an agent walks from state to state of a
tabulated world.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from gde.data.cell_map import Position
from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome
from gde.errors import GdeError
from gde.numerics.tabular import solve
from gde_plugins.grid.rendering.layout import offsets, put


@dataclass(frozen=True, kw_only=True)
class Walk:
    """A world as tables, made once an episode so that a step only looks things up."""

    mdp: TabularMDP
    positions: list[Position]
    """Of every state."""
    moves: dict[str, list[int]]
    """Action to the successor of every state."""
    start: int
    goals: list[bool]
    texts: Sequence[str]
    """The text of every state, without the agent."""
    offsets: list[int]
    """Index in the text of each state's cell."""

    @classmethod
    def of(cls, mdp: TabularMDP, rows: Sequence[str], texts: Sequence[str]) -> "Walk":
        """Tabulate a deterministic world with the labels `row`, `column` and `goal`."""
        places = zip(mdp.labels["row"], mdp.labels["column"], strict=True)
        positions = [(int(row), int(column)) for row, column in places]
        steps = zip(mdp.actions, mdp.transition, strict=True)
        return cls(
            mdp=mdp,
            positions=positions,
            moves={action: matrix.indices.tolist() for action, matrix in steps},
            start=int(mdp.start.argmax()),
            goals=mdp.labels["goal"].astype(bool).tolist(),
            texts=texts,
            offsets=offsets(rows, positions),
        )

    @property
    def distance(self) -> int:
        """The number of steps from the first state to the end."""
        return shortest_way(self.mdp)


def shortest_way(mdp: TabularMDP) -> int:
    """Return the number of steps from the first state of a model to its end."""
    start = mdp.start.argmax()
    return -int(solve(mdp).value[start])


class Walker:
    """An environment whose state is an index. A step earns 1 on reaching the goal and 0
    elsewhere.
    """

    _symbol: str
    """The symbol of the agent in the text."""

    def __init__(self) -> None:
        self._begun: Walk | None = None
        self._state = 0

    def step(self, action: str) -> Outcome:
        """Move the agent by one cell, or leave it where it is at a wall."""
        walk = self._walk
        if action not in walk.moves:
            raise ValueError(
                f"the grid takes the actions {', '.join(walk.moves)}, got {action!r}"
            )
        if walk.goals[self._state]:
            raise ValueError(
                "the episode is over, the agent is at the goal: call reset(seed)"
            )
        self._state = walk.moves[action][self._state]
        if walk.goals[self._state]:
            return Outcome.terminal(self._observe(), 1.0, success=1.0)
        return Outcome.running(self._observe())

    def mdp(self) -> TabularMDP:
        """The model of the episode; every step costs 1."""
        return self._walk.mdp

    def snapshot(self) -> int:
        """The state index: all that changes."""
        return self._state

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, int) or not 0 <= snapshot < len(self._walk.goals):
            raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        self._state = snapshot
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """Nothing is held."""

    @property
    def _walk(self) -> Walk:
        if self._begun is None:
            raise GdeError(
                "the grid environment has no episode yet: call reset(seed) first"
            )
        return self._begun

    def _begin(self, walk: Walk) -> Observation:
        self._begun = walk
        self._state = walk.start
        return self._observe()

    def _observe(self) -> Observation:
        walk = self._walk
        text = put(walk.texts[self._state], walk.offsets[self._state], self._symbol)
        return Observation(text=text, actions=walk.mdp.actions)
