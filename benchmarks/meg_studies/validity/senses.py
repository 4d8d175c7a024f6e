"""What an agent of the validity suite perceives, in tables and in other worlds alike."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gde.data.arrays import Doubles
from gde.data.mdp import TabularMDP

Indices = NDArray[np.intp]


@dataclass
class Memory:
    """What an agent may remember."""

    last: int = -1
    """Place of the last action that changed something, in the list of its options."""
    before: int = -1
    """The state that it came from."""
    turn: int = 0
    visits: dict[int, int] = field(default_factory=dict)
    """The number of visits, by state."""
    notes: dict[str, int] = field(default_factory=dict)
    """Whatever else it notes down."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Sight:
    """A moment of an episode."""

    state: int
    after: Indices
    """(A,) state that each admissible action leads to."""
    optimal: NDArray[np.bool_]
    """(G, A) actions that are optimal towards each goal."""
    present: int
    """Index of the goal of the episode, which only seekers look at."""
    chances: Doubles
    """(G,) probability of each goal."""
    memory: Memory
    mdp: TabularMDP | None
    """The model of the world; None where there is none."""
    rng: np.random.Generator

    @property
    def moves(self) -> NDArray[np.bool_]:
        """(A,) whether an action changes anything."""
        changes: NDArray[np.bool_] = self.after != self.state
        return changes
