"""Use of a needed key, and attraction by a useless one."""

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
    measured = _accuracy(evidence, episodes)
    measured += _pickup(evidence, episodes)
    measured += _attraction(evidence, episodes)
    # A condition of artefacts holds no counterfactuals.
    if not evidence.part:
        measured += _jaccard(evidence, episodes)
    return measured


def _accuracy(evidence: Evidence, episodes: Sequence[KeyEpisode]) -> list[Measurement]:
    behind_doors = [episode for episode in episodes if episode.has_door]
    reason = _why_none(episodes, behind_doors, NO_DOOR) or _uncertified(
        evidence, behind_door
    )
    return [_phase_accuracy(evidence, phase, behind_doors, reason) for phase in PHASES]


def _phase_accuracy(
    evidence: Evidence, phase: str, episodes: Sequence[KeyEpisode], reason: str
) -> Measurement:
    name = f"keys.accuracy.{phase}"
    if reason:
        return unmeasured(name, "share", reason)
    shares: dict[Place, list[float]] = {}
    for episode in episodes:
        decisions = episode.phases[phase]
        # An episode that never came to the phase says nothing about it.
        if decisions.of:
            share = decisions.hits / decisions.of
            shares.setdefault(episode.place, []).append(share)
    if not shares:
        return unmeasured(name, "share", f"no episode came as far as to {phase}")
    means = {place: fmean(of_world) for place, of_world in shares.items()}
    return over_worlds(evidence, name, "share", means)


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
        _detours(evidence, "keys.attraction", with_object, reason),
        _detours(evidence, "keys.attraction.control", without, no_control),
    ]


def _detours(
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
        return [unmeasured("keys.jaccard", "share", _why_none(episodes, [], NO_OBJECT))]
    measured: list[Measurement] = []
    for kind in kinds:
        of_kind = [episode for episode in with_object if episode.artefact == kind]
        values = _similarities(of_kind, without)
        if values:
            found = over_worlds(evidence, "keys.jaccard", "share", values)
        else:
            found = unmeasured("keys.jaccard", "share", _no_counterfactual(episodes))
        measured.append(replace(found, where={"artefact": kind}))
    return measured


def _similarities(
    episodes: Sequence[KeyEpisode], without: Sequence[KeyEpisode]
) -> dict[Place, float]:
    """Return for each world the mean over pairs of an episode and one in the
    counterfactual world.
    """
    # The cluster is equal for worlds that differ in the object alone.
    counterfactuals: dict[str, list[KeyEpisode]] = {}
    for episode in without:
        counterfactuals.setdefault(episode.place.cluster, []).append(episode)

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
