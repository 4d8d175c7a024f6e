"""Does the agent act optimally, step by step?"""

from collections.abc import Sequence
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import by_world, finished, is_optimal, over_worlds, turns_by_cluster, uncertified, unmeasured
from gde.numerics.stats import cluster_share
from gde.seeding import generator


def accuracy(evidence: Evidence) -> Sequence[Measurement]:
    """Per-action accuracy (Arghal et al. 2026, eqs. 2 and 3), and the same pooled over all steps.

    "accuracy" is the share of optimal actions in a trajectory, averaged over the trajectories of a world, then over
    worlds: its n is the number of worlds. "accuracy.pooled" gives every step the same weight: its n is the number of
    steps. An unusable answer is a step that was not optimal.
    """
    trajectories = [trajectory for trajectory in finished(evidence) if trajectory.turns]
    if reason := uncertified(trajectories):
        return [unmeasured(name, "share", reason) for name in ("accuracy", "accuracy.pooled")]
    turns, of_turns = turns_by_cluster(trajectories)
    rng = generator(evidence.seed, "metric", "accuracy.pooled")
    pooled = cluster_share([is_optimal(turn) for turn in turns], of_turns, rng)
    shares = {place: fmean(map(_share, of_world)) for place, of_world in by_world(trajectories).items()}
    return [over_worlds(evidence, "accuracy", "share", shares), pooled.measurement("accuracy.pooled", "share")]


def _share(trajectory: Trajectory) -> float:
    return fmean(map(is_optimal, trajectory.turns))
