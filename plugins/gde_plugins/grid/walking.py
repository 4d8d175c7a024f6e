"""The common part of this plugin's worlds: an agent walks from state to state of a
tabulated world.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from gde.data.mdp import TabularMDP
from gde.data.observation import Observation, Outcome
from gde.errors import GdeError


class Walk(Protocol):
    """Everything that stays the same from reset to reset, computed once so that a step
    only looks things up.
    """

    @property
    def mdp(self) -> TabularMDP:
        """The world as a Markov decision process."""

    @property
    def moves(self) -> Mapping[str, Sequence[int]]:
        """Action to the successor of every state."""

    @property
    def goals(self) -> Sequence[bool]:
        """Whether each state is at the goal."""


WalkT = TypeVar("WalkT", bound=Walk)


class Walker(ABC, Generic[WalkT]):
    """An environment whose state is an index. A step earns 1 on reaching the goal and 0
    elsewhere.
    """

    def __init__(self) -> None:
        self._played: WalkT | None = None
        self._state = 0

    def step(self, action: str) -> Outcome:
        """Move the agent by one cell, or leave it where it is at a wall."""
        episode = self._episode
        successors = episode.moves.get(action)
        if successors is None:
            raise ValueError(
                f"the grid takes the actions {', '.join(episode.moves)}, got {action!r}"
            )
        if episode.goals[self._state]:
            raise ValueError(
                "the episode is over, the agent is at the goal: call reset(seed)"
            )
        self._state = successors[self._state]
        observation = self._observe()
        if episode.goals[self._state]:
            return Outcome.terminal(observation, 1.0, success=1.0)
        return Outcome.running(observation)

    def mdp(self) -> TabularMDP:
        """The model of the episode; every step costs 1."""
        return self._episode.mdp

    def snapshot(self) -> int:
        """The state index: all that changes."""
        return self._state

    def restore(self, snapshot: object) -> Observation:
        if not isinstance(snapshot, int) or not 0 <= snapshot < len(
            self._episode.goals
        ):
            raise ValueError(f"wanted a snapshot of this episode, got {snapshot!r}")
        self._state = snapshot
        return self._observe()

    def reseed(self, seed: int) -> None:
        """Nothing is random."""

    def close(self) -> None:
        """Nothing is held."""

    @property
    def _episode(self) -> WalkT:
        if self._played is None:
            raise GdeError(
                "the grid environment has no episode yet: call reset(seed) first"
            )
        return self._played

    @abstractmethod
    def _observe(self) -> Observation:
        """The observation of the present state."""
