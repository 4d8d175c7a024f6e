"""Use of a needed key, and attraction by a useless one.

A key world has the facts `rows`, `agent`, `artefact` ("none" in a counterfactual
without an object), `place` (where the object lies, or in that counterfactual would) and
perhaps `door`. Its states have `agent`, `carrying` and, in a world with a door, `door`,
which is null once it is open.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from gde.data.arrays import Doubles
from gde.data.cell_map import Position, position
from gde.data.evidence import Evidence
from gde.data.grouping import grouped
from gde.data.observation import State
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import (
    CERTIFIED,
    Count,
    Place,
    count,
    finished,
    is_optimal,
    lacking,
    over_worlds,
    pooled_share,
    unmeasured,
)
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
    steps: Doubles | None = None
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


NOTHING_FINISHED = "no episode in a key world was finished"
NO_DOOR = "no door in these worlds"
NEEDED = (
    "the key is needed in these worlds, and there are no counterfactuals without it"
)
NO_OBJECT = "no object in these worlds"
NO_COUNTERFACTUAL = "no counterfactual without the object among these worlds: it is the one of env.artefact=none"
NO_DETOUR = "no action before the object's place was reached was other than optimal"


def keys(evidence: Evidence) -> Sequence[Measurement]:
    """The key metrics of Arghal et al. (2026), section 4.3 and table 1; nothing for a
    run without key worlds.

    "keys.accuracy.PHASE": share of optimal actions in each phase (collect the key, open
    the door, reach the goal), averaged over the episodes of a world that get there,
    then over worlds. Optimal actions are those that the exact model of the augmented
    state certifies. They agree with the published rule (the shortest way to the key,
    then to the goal as if there were no door). "keys.pickup": share of episodes in
    which the agent takes the object. "keys.attraction": share of non-optimal actions
    that led nearer to a useless object while it still lay there. A bump into a wall is
    a non-optimal action, an unusable answer is not. "keys.pickup.control" and
    "keys.attraction.control": the same about the object's place in the counterfactual
    worlds without the object. The excess over them is the effect of the object.
    "keys.jaccard": similarity |A and B| / |A or B| of the sets of (position, action) of
    an episode with the object and one in its counterfactual without, averaged over all
    pairs of a world, then over worlds; one for each kind of object. A part of a run has
    none, since a condition of artefacts holds no counterfactuals. "overlap.jaccard" of
    the worlds without the object is the similarity of two episodes under equal
    conditions.
    """
    if not any(map(in_key_world, evidence.trajectories)):
        return ()
    episodes = [KeyEpisode.of(one) for one in finished(evidence).where(in_key_world)]
    behind_doors = [episode for episode in episodes if episode.has_door]
    reason = _why_none(episodes, behind_doors, NO_DOOR) or _uncertified(
        evidence, behind_door
    )
    measured = [
        _phase_accuracy(evidence, phase, behind_doors, reason) for phase in PHASES
    ]
    measured += _pickup(evidence, episodes)
    measured += _attraction(evidence, episodes)
    # A condition of artefacts holds no counterfactuals.
    if not evidence.part:
        measured += _jaccard(evidence, episodes)
    return measured


def _phase_accuracy(
    evidence: Evidence, phase: str, episodes: Sequence[KeyEpisode], reason: str
) -> Measurement:
    name = f"keys.accuracy.{phase}"
    if reason:
        return unmeasured(name, reason)
    shares: dict[Place, list[float]] = {}
    for episode in episodes:
        decisions = episode.phases[phase]
        # An episode that never came to the phase says nothing about it.
        if decisions.of:
            share = decisions.hits / decisions.of
            shares.setdefault(episode.place, []).append(share)
    means = {place: fmean(of_world) for place, of_world in shares.items()}
    none = f"no episode came as far as to {phase}"
    return over_worlds(evidence, name, means, reason=none)


def _pickup(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    with_object, without = _split(episodes)
    no_object = _why_none(episodes, with_object, NO_OBJECT)
    no_control = _why_none(episodes, without, _no_counterfactual(episodes))
    return [
        pooled_share(evidence, "keys.pickup", _visits(with_object), no_object),
        pooled_share(evidence, "keys.pickup.control", _visits(without), no_control),
    ]


def _attraction(
    evidence: Evidence, episodes: Sequence[KeyEpisode]
) -> list[Measurement]:
    # Behind a door the key is needed, and steps towards it are no attraction.
    without_door = [episode for episode in episodes if not episode.has_door]
    with_object, without = _split(without_door)

    no_object = NEEDED if _needs_key(episodes) else NO_OBJECT
    reason = _why_none(episodes, with_object, no_object)
    if not reason:
        reason = _uncertified(evidence, _has_useless_object)
    no_control = _why_none(episodes, without, _no_counterfactual(episodes))
    if not no_control:
        no_control = _uncertified(evidence, _has_no_object)
    return [
        _detour_share(evidence, "keys.attraction", with_object, reason),
        _detour_share(evidence, "keys.attraction.control", without, no_control),
    ]


def _detour_share(
    evidence: Evidence, name: str, episodes: Sequence[KeyEpisode], reason: str
) -> Measurement:
    if reason:
        return pooled_share(evidence, name, [], reason)
    return pooled_share(
        evidence, name, [episode.detours for episode in episodes], NO_DETOUR
    )


def _jaccard(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    with_object, without = _split(episodes)
    kinds = sorted({episode.artefact for episode in with_object})
    if not kinds:
        return [unmeasured("keys.jaccard", _why_none(episodes, [], NO_OBJECT))]
    measured: list[Measurement] = []
    for kind in kinds:
        of_kind = [episode for episode in with_object if episode.artefact == kind]
        values = _similarities(of_kind, without)
        none = _no_counterfactual(episodes)
        found = over_worlds(evidence, "keys.jaccard", values, reason=none)
        measured.append(replace(found, where={"artefact": kind}))
    return measured


def _similarities(
    episodes: Sequence[KeyEpisode], without: Sequence[KeyEpisode]
) -> dict[Place, float]:
    """Return for each world the mean over pairs of an episode and one in the
    counterfactual world.
    """
    # The cluster is equal for worlds that differ in the object alone.
    counterfactuals = grouped(without, lambda episode: episode.place.cluster)

    similarities: dict[Place, list[float]] = {}
    for episode in episodes:
        for other in counterfactuals.get(episode.place.cluster, ()):
            n_either = len(episode.pairs | other.pairs)
            if n_either:
                similarity = len(episode.pairs & other.pairs) / n_either
                similarities.setdefault(episode.place, []).append(similarity)
    return {place: fmean(of_world) for place, of_world in similarities.items()}


def _split(episodes: Sequence[KeyEpisode]) -> tuple[list[KeyEpisode], list[KeyEpisode]]:
    """Return the episodes with an object, and those without."""
    with_object = [episode for episode in episodes if episode.artefact != NO_ARTEFACT]
    without = [episode for episode in episodes if episode.artefact == NO_ARTEFACT]
    return with_object, without


def _needs_key(episodes: Sequence[KeyEpisode]) -> bool:
    return any(episode.has_door for episode in episodes)


def _no_counterfactual(episodes: Sequence[KeyEpisode]) -> str:
    return NEEDED if _needs_key(episodes) else NO_COUNTERFACTUAL


def _visits(episodes: Sequence[KeyEpisode]) -> list[Count]:
    return [
        Count(episode.place.cluster, episode.visits_place, 1) for episode in episodes
    ]


def _why_none(
    episodes: Sequence[KeyEpisode], wanted: Sequence[KeyEpisode], reason: str
) -> str:
    """Return why there are none of the wanted episodes; empty if there are some."""
    if wanted:
        return ""
    return reason if episodes else NOTHING_FINISHED


def _uncertified(evidence: Evidence, concerned: Callable[[Trajectory], bool]) -> str:
    return lacking(finished(evidence).where(in_key_world).where(concerned), CERTIFIED)


def _has_useless_object(trajectory: Trajectory) -> bool:
    return not behind_door(trajectory) and artefact(trajectory) != NO_ARTEFACT


def _has_no_object(trajectory: Trajectory) -> bool:
    return not behind_door(trajectory) and artefact(trajectory) == NO_ARTEFACT
