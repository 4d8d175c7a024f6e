"""Episodes in key worlds, as their records tell them.

A world is one of these when its facts hold `rows`, `agent`, `artefact` ("none" in a twin without an object), `place`
(where the object lies, or in that twin would), perhaps `door`, and its states `agent`, `carrying` and, in a world with
a door, `door`, which is null once it is open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_array

from gde.data.cell_map import Position, position
from gde.data.mdp import Floats
from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import Count, Place, count, is_optimal
from gde.numerics.tabular import steps_to
from gde_plugins.grid.grid import Grid

NO_ARTEFACT = "none"
PHASES = ("collect", "open", "reach")
"""Take the key, open the door, reach the goal."""


@dataclass(frozen=True, kw_only=True)
class KeyEpisode:
    """What the numbers need of an episode in a key world."""

    place: Place
    artefact: str
    """What lies in the object's place: "key", "none", or the name of something else."""
    has_door: bool
    """Whether the key is needed."""
    visits_place: bool
    """Whether the agent was ever in the object's place, which is to take the object where there is one."""
    phases: dict[str, Count]
    """In a world with a door, the optimal decisions of each phase."""
    detours: Count
    """In a world without one, of the actions that were not optimal, until the object's place was visited, those that
    led nearer to it."""
    pairs: frozenset[tuple[Position, str]]
    """Every position with each action that was taken there."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "KeyEpisode":
        """What is kept of the episode."""
        states = _states(trajectory)
        positions, has_door = [position(state.facts, "agent") for state in states], behind_door(trajectory)
        taken = zip(positions, (turn.decision.action for turn in trajectory.turns), strict=False)
        return cls(
            place=Place.of(trajectory),
            artefact=artefact(trajectory),
            has_door=has_door,
            visits_place=position(trajectory.world.facts, "place") in positions,
            phases=_phases(trajectory, states) if has_door else {},
            detours=count(trajectory, () if has_door else _detours(trajectory, positions)),
            pairs=frozenset(_pair(here, action) for here, action in taken if action is not None),
        )


def in_key_world(trajectory: Trajectory) -> bool:
    """Whether the episode took place in a key world."""
    return {"rows", "agent", "artefact", "place"} <= trajectory.world.facts.keys()


def behind_door(trajectory: Trajectory) -> bool:
    """Whether a key world has a door."""
    return "door" in trajectory.world.facts


def artefact(trajectory: Trajectory) -> str:
    """What lies in the object's place of a key world."""
    return str(trajectory.world.facts["artefact"])


@lru_cache(maxsize=4096)
def _pair(here: Position, action: str) -> tuple[Position, str]:
    """The same object for equal pairs: an episode has some, a run has millions."""
    return here, action


def _states(trajectory: Trajectory) -> list[State]:
    states = [*(turn.state for turn in trajectory.turns), trajectory.final_state]
    return [state for state in states if state is not None]


def _phases(trajectory: Trajectory, states: Sequence[State]) -> dict[str, Count]:
    phases = list(zip(map(_phase, states), trajectory.turns, strict=False))
    return {name: count(trajectory, (is_optimal(turn) for phase, turn in phases if phase == name)) for name in PHASES}


def _phase(state: State) -> str:
    if not state.facts["carrying"]:
        return "collect"
    return "reach" if state.facts["door"] is None else "open"


def _detours(trajectory: Trajectory, positions: Sequence[Position]) -> Iterator[bool]:
    """For each action that was not optimal, until the object's place is visited: did it lead nearer to it?"""
    place, steps = position(trajectory.world.facts, "place"), None
    for turn, here, after in zip(trajectory.turns, positions, positions[1:], strict=False):
        if here == place:
            return
        if turn.decision.action is not None and not is_optimal(turn):
            steps = _steps_to(place, trajectory) if steps is None else steps
            yield bool(steps[after] < steps[here])


def _steps_to(place: Position, trajectory: Trajectory) -> Floats:
    """(height, width) length of the shortest way to a place, inf where there is none."""
    free = ~Grid.from_record(trajectory.world, _states(trajectory)[0]).walls
    cells = np.arange(free.size).reshape(free.shape)
    across, down = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
    ends = (
        np.concatenate([cells[:, :-1][across], cells[:-1][down]]),
        np.concatenate([cells[:, 1:][across], cells[1:][down]]),
    )
    one_way = coo_array((np.ones(len(ends[0])), ends), shape=(free.size, free.size)).tocsr()
    return steps_to(one_way + one_way.T, np.array([cells[place]])).reshape(free.shape)
