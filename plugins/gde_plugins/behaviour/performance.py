"""Success rate, accuracy and length of episodes."""

from collections.abc import Sequence
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import (
    CERTIFIED,
    NOTHING_FINISHED,
    Place,
    by_world,
    count,
    finished,
    is_optimal,
    lacking,
    over_episodes,
    over_worlds,
    played,
    pooled_share,
    unmeasured,
)
from gde.numerics.stats import cluster_mean

NO_GOAL = "the world has no goal that can be reached"


def success(evidence: Evidence) -> Sequence[Measurement]:
    """Measure the success rate: the share of the goal that finished episodes reach
    (Arghal et al. 2026, eq. 1).

    In most worlds an episode reaches all or nothing.
    """
    found = [(one.world.cluster, one.success) for one in finished(evidence)]
    reached = [(cluster, success) for cluster, success in found if success is not None]
    reason = NO_GOAL if found else NOTHING_FINISHED
    return [over_episodes(evidence, "success", reached, reason=reason)]


def accuracy(evidence: Evidence) -> Sequence[Measurement]:
    """Measure the per-action accuracy (Arghal et al. 2026, eqs. 2 and 3), and the same
    pooled over all steps.

    "accuracy" is the share of optimal actions in a trajectory, averaged over the
    trajectories of a world, then over worlds: its n is the number of worlds.
    "accuracy.pooled" gives every step the same weight: its n is the number of steps. An
    unusable answer is a step that was not optimal.
    """
    if reason := lacking(played(evidence), CERTIFIED):
        return [unmeasured(name, reason) for name in ("accuracy", "accuracy.pooled")]

    counts = []
    shares = []
    for trajectory in played(evidence):
        of_episode = count(trajectory, map(is_optimal, trajectory.turns))
        counts.append(of_episode)
        shares.append((Place.of(trajectory), of_episode.hits / of_episode.of))
    means = {place: fmean(of_world) for place, of_world in by_world(shares).items()}
    return [
        over_worlds(evidence, "accuracy", means),
        pooled_share(evidence, "accuracy.pooled", counts),
    ]


def length(evidence: Evidence) -> Sequence[Measurement]:
    """Measure the mean number of turns of a finished episode, unusable answers
    included.
    """
    turns = [(one.world.cluster, len(one.turns)) for one in finished(evidence)]
    return [over_episodes(evidence, "length", turns, cluster_mean)]
