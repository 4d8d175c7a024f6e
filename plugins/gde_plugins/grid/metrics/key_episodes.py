"""Episodes in key worlds, as their records tell them.

A world is one of these when its facts hold `rows`, `agent`, `artefact` ("none" in a twin without an object), `place`
(where the object lies, or in that twin would), perhaps `door`, and its states `agent`, `carrying` and, in a world with
a door, `door`, which is null once it is open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array

from gde.data.cell_map import Position, position
from gde.data.mdp import Floats
from gde.data.observation import State
from gde.data.trajectory import Trajectory, Turn
from gde.numerics.episodes import is_optimal
from gde.numerics.tabular import steps_to
from gde_plugins.grid.grid import Grid

NO_ARTEFACT = "none"


@dataclass(frozen=True)
class KeyEpisode:
    """One episode in a key world."""

    trajectory: Trajectory

    @property
    def artefact(self) -> str:
        """What lies in the place: "key", "none", or the name of something else."""
        return str(self.trajectory.world.facts["artefact"])

    @property
    def has_door(self) -> bool:
        """Whether the key is needed."""
        return "door" in self.trajectory.world.facts

    @cached_property
    def positions(self) -> list[Position]:
        """Where the agent was before each turn, then where it was at the end."""
        return [position(state.facts, "agent") for state in self._states]

    @property
    def visits_place(self) -> bool:
        """Whether the agent was ever in the object's place, which is to take the object where there is one."""
        return self._place in self.positions

    def turns(self, phase: str) -> list[Turn]:
        """Those of one phase of a world with a door: "collect" the key, "open" the door, "reach" the goal."""
        states = zip(self.trajectory.turns, self._states, strict=False)
        return [turn for turn, state in states if _phase(state) == phase]

    def detours(self) -> Iterator[bool]:
        """For each action that was not optimal, until the object's place is visited: did it lead nearer to it?"""
        steps = self._steps_to_place()
        moves = zip(self.trajectory.turns, self.positions, self.positions[1:], strict=False)
        for turn, here, after in moves:
            if here == self._place:
                return
            if turn.decision.action is not None and not is_optimal(turn):
                yield bool(steps[after] < steps[here])

    @cached_property
    def pairs(self) -> frozenset[tuple[Position, str]]:
        """Every position with each action that was taken there."""
        taken = zip(self.positions, (turn.decision.action for turn in self.trajectory.turns), strict=False)
        return frozenset((here, action) for here, action in taken if action is not None)

    @property
    def _place(self) -> Position:
        return position(self.trajectory.world.facts, "place")

    @cached_property
    def _states(self) -> list[State]:
        states = [*(turn.state for turn in self.trajectory.turns), self.trajectory.final_state]
        return [state for state in states if state is not None]

    def _steps_to_place(self) -> Floats:
        """(height, width) length of the shortest way to the object's place, inf where there is none."""
        free = ~Grid.from_record(self.trajectory.world, self._states[0]).walls
        cells = np.arange(free.size).reshape(free.shape)
        across, down = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
        ends = (
            np.concatenate([cells[:, :-1][across], cells[:-1][down]]),
            np.concatenate([cells[:, 1:][across], cells[1:][down]]),
        )
        one_way = coo_array((np.ones(len(ends[0])), ends), shape=(free.size, free.size)).tocsr()
        return steps_to(one_way + one_way.T, np.array([cells[self._place]])).reshape(free.shape)


def key_episodes(trajectories: Sequence[Trajectory]) -> list[KeyEpisode]:
    """Those that took place in a key world."""
    wanted = {"rows", "agent", "artefact", "place"}
    return [KeyEpisode(trajectory) for trajectory in trajectories if wanted <= trajectory.world.facts.keys()]


def _phase(state: State) -> str:
    if not state.facts["carrying"]:
        return "collect"
    return "reach" if state.facts["door"] is None else "open"
