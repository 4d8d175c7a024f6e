"""Episodes in key worlds, read from their records.

A key world has the facts `rows`, `agent`, `artefact` ("none" in a counterfactual without an object), `place` (where the
object lies, or in that counterfactual would) and perhaps `door`. Its states have `agent`, `carrying` and, in a world
with a door, `door`, which is null once it is open.
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
    """Counts of an episode in a key world."""

    place: Place
    artefact: str
    """The object in the object's place: "key", "none", or another name."""
    has_door: bool
    """Whether the key is needed."""
    visits_place: bool
    """Whether the agent was ever in the object's place, which is to take the object where there is one."""
    phases: dict[str, Count]
    """In a world with a door, the optimal decisions of each phase."""
    detours: Count
    """In a world without a door, of the non-optimal actions until the object's place was visited, those that led
    nearer to it."""
    pairs: frozenset[tuple[Position, str]]
    """Every position with each action that was taken there."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "KeyEpisode":
        """Read the counts off an episode."""
        states = _states(trajectory)
        positions = [position(state.facts, "agent") for state in states]
        has_door = behind_door(trajectory)
        pairs: set[tuple[Position, str]] = set()
        for here, turn in zip(positions, trajectory.turns, strict=False):
            if turn.decision.action is not None:
                pairs.add(_pair(here, turn.decision.action))
        return cls(
            place=Place.of(trajectory),
            artefact=artefact(trajectory),
            has_door=has_door,
            visits_place=position(trajectory.world.facts, "place") in positions,
            phases=_phases(trajectory, states) if has_door else {},
            detours=count(trajectory, () if has_door else _detours(trajectory, positions)),
            pairs=frozenset(pairs),
        )


def in_key_world(trajectory: Trajectory) -> bool:
    """Whether the episode took place in a key world."""
    return {"rows", "agent", "artefact", "place"} <= trajectory.world.facts.keys()


def behind_door(trajectory: Trajectory) -> bool:
    """Whether a key world has a door."""
    return "door" in trajectory.world.facts


def artefact(trajectory: Trajectory) -> str:
    """The object of a key world."""
    return str(trajectory.world.facts["artefact"])


@lru_cache(maxsize=4096)
def _pair(here: Position, action: str) -> tuple[Position, str]:
    """One object for equal pairs, since a run has millions of them."""
    return here, action


def _states(trajectory: Trajectory) -> list[State]:
    states = [*(turn.state for turn in trajectory.turns), trajectory.final_state]
    return [state for state in states if state is not None]


def _phases(trajectory: Trajectory, states: Sequence[State]) -> dict[str, Count]:
    optimal: dict[str, list[bool]] = {name: [] for name in PHASES}
    for state, turn in zip(states, trajectory.turns, strict=False):
        optimal[_phase(state)].append(is_optimal(turn))
    return {name: count(trajectory, of_phase) for name, of_phase in optimal.items()}


def _phase(state: State) -> str:
    if not state.facts["carrying"]:
        return "collect"
    return "reach" if state.facts["door"] is None else "open"


def _detours(trajectory: Trajectory, positions: Sequence[Position]) -> Iterator[bool]:
    """Whether each non-optimal action, until the object's place is visited, leads nearer to it."""
    place = position(trajectory.world.facts, "place")
    steps: Floats | None = None
    for turn, here, after in zip(trajectory.turns, positions, positions[1:], strict=False):
        if here == place:
            return
        if turn.decision.action is not None and not is_optimal(turn):
            if steps is None:  # most episodes need none
                steps = _steps_to(place, trajectory)
            yield bool(steps[after] < steps[here])


def _steps_to(place: Position, trajectory: Trajectory) -> Floats:
    """(height, width) length of the shortest way to a place, inf where there is none."""
    free = ~Grid.from_record(trajectory.world, _states(trajectory)[0]).walls
    cells = np.arange(free.size).reshape(free.shape)
    across = free[:, :-1] & free[:, 1:]
    down = free[:-1] & free[1:]
    first = np.concatenate([cells[:, :-1][across], cells[:-1][down]])
    second = np.concatenate([cells[:, 1:][across], cells[1:][down]])
    one_way = coo_array((np.ones(len(first)), (first, second)), shape=(free.size, free.size)).tocsr()
    return steps_to(one_way + one_way.T, np.array([cells[place]])).reshape(free.shape)
