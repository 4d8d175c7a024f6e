"""Episodes in key worlds, read from their records.

A key world has the facts `rows`, `agent`, `artefact` ("none" in a counterfactual
without an object), `place` (where the object lies, or in that counterfactual would) and
perhaps `door`. Its states have `agent`, `carrying` and, in a world with a door, `door`,
which is null once it is open.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gde.data.cell_map import Position, position
from gde.data.mdp import Floats
from gde.data.observation import State
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import Count, Place, count, is_optimal
from gde_plugins.grid.grid import Grid
from gde_plugins.grid.solver.dynamics import steps_to

NO_ARTEFACT = "none"
PHASES = ("collect", "open", "reach")
"""Take the key, open the door, reach the goal."""


@dataclass(frozen=True, kw_only=True)
class KeyEpisode:
    """Counts of an episode in a key world."""

    place: Place
    artefact: str
    """The object of the world: "key", "none", or another name."""
    has_door: bool
    """Whether the key is needed."""
    visits_place: bool
    """Whether the agent was ever in the object's place and thereby took the object, if
    there is one.
    """
    phases: dict[str, Count]
    """In a world with a door, the optimal decisions of each phase."""
    detours: Count
    """In a world without a door, the non-optimal actions before the visit to the
    object's place that led nearer to it.
    """
    pairs: frozenset[tuple[Position, str]]
    """Every position with each action that was taken there."""

    @classmethod
    def of(cls, trajectory: Trajectory) -> "KeyEpisode":
        """Read the counts off an episode."""
        states = _states(trajectory)
        positions = [position(state.facts, "agent") for state in states]
        object_place = position(trajectory.world.facts, "place")

        # The final state has no turn of its own.
        pairs: set[tuple[Position, str]] = set()
        for here, turn in zip(positions, trajectory.turns, strict=False):
            if turn.decision.action is not None:
                pairs.add((here, turn.decision.action))

        # Behind a door, to fetch the object is no detour.
        has_door = behind_door(trajectory)
        phases: dict[str, Count] = {}
        detours: Iterable[bool] = ()
        if has_door:
            phases = _phases(trajectory, states)
        else:
            detours = _detours(trajectory, positions)
        return cls(
            place=Place.of(trajectory),
            artefact=artefact(trajectory),
            has_door=has_door,
            visits_place=object_place in positions,
            phases=phases,
            detours=count(trajectory, detours),
            pairs=frozenset(pairs),
        )


def in_key_world(trajectory: Trajectory) -> bool:
    """Return whether the episode took place in a key world."""
    return {"rows", "agent", "artefact", "place"} <= trajectory.world.facts.keys()


def behind_door(trajectory: Trajectory) -> bool:
    """Return whether a key world has a door."""
    return "door" in trajectory.world.facts


def artefact(trajectory: Trajectory) -> str:
    """Return the object of a key world."""
    return str(trajectory.world.facts["artefact"])


def _states(trajectory: Trajectory) -> list[State]:
    states = [turn.state for turn in trajectory.turns]
    states.append(trajectory.final_state)
    return [state for state in states if state is not None]


def _phases(trajectory: Trajectory, states: Sequence[State]) -> dict[str, Count]:
    optimal: dict[str, list[bool]] = {name: [] for name in PHASES}
    for state, turn in zip(states, trajectory.turns, strict=False):
        if not state.facts["carrying"]:
            phase = "collect"
        elif state.facts["door"] is not None:
            phase = "open"
        else:
            phase = "reach"
        optimal[phase].append(is_optimal(turn))
    return {name: count(trajectory, of_phase) for name, of_phase in optimal.items()}


def _detours(trajectory: Trajectory, positions: Sequence[Position]) -> Iterator[bool]:
    """Yield for each non-optimal action, until the object's place is visited, whether
    it leads nearer to it.
    """
    place = position(trajectory.world.facts, "place")
    steps: Floats | None = None
    for turn, here, after in zip(
        trajectory.turns, positions, positions[1:], strict=False
    ):
        if here == place:
            return
        if turn.decision.action is not None and not is_optimal(turn):
            # Late, because most episodes need no distances.
            if steps is None:
                grid = Grid.from_record(trajectory.world, _states(trajectory)[0])
                steps = steps_to(grid.walls, [place])
            yield bool(steps[after] < steps[here])
