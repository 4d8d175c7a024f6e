"""What an agent of the validity suite perceives, in tables and in other worlds alike."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gde.data.mdp import Floats, TabularMDP
from gde.parts.environment import HasState
from gde_plugins.meg.verdict.pursuits import Alternative, Played, Tabulated

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
    chances: Floats
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


class Senses:
    """Numbers the states of a world, as they are met."""

    def __init__(self, world: Alternative) -> None:
        self._world = world
        self._numbers: dict[str, int] = {}

    @property
    def mdp(self) -> TabularMDP | None:
        """The model of the world; None where there is none."""
        return self._world.mdp if isinstance(self._world, Tabulated) else None

    def look(self) -> tuple[int, Indices]:
        """Return the present state, and the (A,) states that the options lead to."""
        world = self._world
        options = world.options
        if isinstance(world, Tabulated):
            after = [int(world.successors[each][world.state]) for each in options]
            return world.state, np.array(after)

        assert isinstance(world, Played)
        environment = world.environment
        here = environment.snapshot()
        state = self._number(environment)
        found = []
        for action in options:
            environment.step(action)
            found.append(self._number(environment))
            environment.restore(here)
        return state, np.array(found)

    def _number(self, environment: object) -> int:
        assert isinstance(environment, HasState)
        key = str(environment.state().facts)
        return self._numbers.setdefault(key, len(self._numbers))
