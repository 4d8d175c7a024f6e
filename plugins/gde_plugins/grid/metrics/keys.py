"""Does the agent use a key that it needs, and is it drawn to one that is good for nothing?"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import (
    CERTIFIED,
    Count,
    Place,
    by_world,
    finished,
    lacking,
    over_worlds,
    pooled_share,
    unmeasured,
)
from gde_plugins.grid.metrics.key_episodes import (
    NO_ARTEFACT,
    PHASES,
    KeyEpisode,
    artefact,
    behind_door,
    in_key_world,
)

NOTHING_FINISHED = "no episode in a key world was finished"
NO_DOOR = "no door in these worlds"
NEEDED = "the key is needed in these worlds, and there are no twins without it"
NO_OBJECT = "no object in these worlds"
NO_TWIN = "no twin without the object among these worlds: it is the one of env.artefact=none"
NO_DETOUR = "no action before the object's place was reached was other than optimal"


def keys(evidence: Evidence) -> Sequence[Measurement]:
    """The key metrics of Arghal et al. (2026), section 4.3 and table 1; nothing for a run without key worlds.

    "keys.accuracy.PHASE": share of optimal actions while the key is to be collected, the door to be opened, the goal
    to be reached; averaged over the episodes of a world that get there, then over worlds. Optimal is what the exact
    model of the augmented state certifies. It agrees with the published rule (the shortest way to the key, then to
    the goal as if there were no door).
    "keys.pickup": share of episodes in which the object is taken.
    "keys.attraction": of the actions that were not optimal, taken while a useless object still lay there, the share
    that led nearer to it. A bump into a wall is such an action, an unusable answer is not.
    "keys.pickup.control" and "keys.attraction.control": the same about the object's place in the twins without the
    object. What goes beyond them is owed to the object.
    "keys.jaccard": similarity |A and B| / |A or B| of the sets of (position, action) of an episode with the object
    and one in its twin without, averaged over all pairs of a world, then over worlds; one for each kind of object.
    Only of the whole run, since a stratum of artefacts holds no twins. "overlap.jaccard" of the twins without the
    object says how alike two episodes are anyway.
    """
    if not any(map(in_key_world, evidence.trajectories)):
        return ()
    episodes = list(map(KeyEpisode.of, finished(evidence).where(in_key_world)))
    measured = [*_accuracy(evidence, episodes), *_pickup(evidence, episodes), *_attraction(evidence, episodes)]
    return [*measured, *_jaccard(evidence, episodes)] if not evidence.part else measured


def _accuracy(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    behind_doors = [episode for episode in episodes if episode.has_door]
    unknown = _why_not(episodes, behind_doors, NO_DOOR) or _uncertified(evidence, behind_door)
    return [_phase_accuracy(evidence, phase, behind_doors, unknown) for phase in PHASES]


def _phase_accuracy(evidence: Evidence, phase: str, episodes: Sequence[KeyEpisode], unknown: str) -> Measurement:
    name = f"keys.accuracy.{phase}"
    counts = [(one.place, one.phases[phase]) for one in episodes if one.phases[phase].of]
    if unknown or not counts:
        return unmeasured(name, "share", unknown or f"no episode came as far as to {phase}")
    shares = by_world((place, one.hits / one.of) for place, one in counts)
    return over_worlds(evidence, name, "share", {place: fmean(of_world) for place, of_world in shares.items()})


def _pickup(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    with_object, twins = _parted(episodes)
    return [
        pooled_share(evidence, "keys.pickup", _visits(with_object), _why_not(episodes, with_object, NO_OBJECT)),
        pooled_share(evidence, "keys.pickup.control", _visits(twins), _why_not(episodes, twins, _no_twin(episodes))),
    ]


def _attraction(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    with_object, twins = _parted([episode for episode in episodes if not episode.has_door])
    measured = []
    for name, some, is_twin, none in (
        ("keys.attraction", with_object, False, NEEDED if _needed(episodes) else NO_OBJECT),
        ("keys.attraction.control", twins, True, _no_twin(episodes)),
    ):
        unknown = _why_not(episodes, some, none) or _uncertified(evidence, _without_door(is_twin))
        detours = [] if unknown else [one.detours for one in some]
        measured.append(pooled_share(evidence, name, detours, unknown or NO_DETOUR))
    return measured


def _jaccard(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    with_object, twins = _parted(episodes)
    kinds = sorted({episode.artefact for episode in with_object})
    if not kinds:
        return [unmeasured("keys.jaccard", "share", _why_not(episodes, [], NO_OBJECT))]
    measured = []
    for kind in kinds:
        values = _similarities([one for one in with_object if one.artefact == kind], twins)
        if values:
            found = over_worlds(evidence, "keys.jaccard", "share", values)
        else:
            found = unmeasured("keys.jaccard", "share", _no_twin(episodes))
        measured.append(replace(found, where={"artefact": kind}))
    return measured


def _similarities(episodes: Sequence[KeyEpisode], twins: Sequence[KeyEpisode]) -> dict[Place, float]:
    """For each world, the mean over pairs of an episode and one in the world's twin."""
    without: dict[str, list[KeyEpisode]] = {}
    for twin in twins:
        without.setdefault(twin.place.cluster, []).append(twin)
    similarities: dict[Place, list[float]] = {}
    for episode in episodes:
        for twin in without.get(episode.place.cluster, ()):
            if either := episode.pairs | twin.pairs:
                similarity = len(episode.pairs & twin.pairs) / len(either)
                similarities.setdefault(episode.place, []).append(similarity)
    return {place: fmean(of_world) for place, of_world in similarities.items()}


def _parted(episodes: Sequence[KeyEpisode]) -> tuple[list[KeyEpisode], list[KeyEpisode]]:
    """Those with an object, and those in twins without."""
    with_object = [episode for episode in episodes if episode.artefact != NO_ARTEFACT]
    return with_object, [episode for episode in episodes if episode.artefact == NO_ARTEFACT]


def _needed(episodes: Sequence[KeyEpisode]) -> bool:
    return any(episode.has_door for episode in episodes)


def _no_twin(episodes: Sequence[KeyEpisode]) -> str:
    return NEEDED if _needed(episodes) else NO_TWIN


def _visits(episodes: Sequence[KeyEpisode]) -> list[Count]:
    return [Count(episode.place.cluster, episode.visits_place, 1) for episode in episodes]


def _why_not(episodes: Sequence[KeyEpisode], wanted: Sequence[KeyEpisode], reason: str) -> str:
    """Why there are none of the wanted; empty where there are."""
    return "" if wanted else (reason if episodes else NOTHING_FINISHED)


def _uncertified(evidence: Evidence, concerned: Callable[[Trajectory], bool]) -> str:
    return lacking(finished(evidence).where(in_key_world).where(concerned), CERTIFIED)


def _without_door(is_twin: bool) -> Callable[[Trajectory], bool]:
    return lambda one: not behind_door(one) and (artefact(one) == NO_ARTEFACT) is is_twin
