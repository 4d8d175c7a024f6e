"""How long the agent takes."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import NOTHING_FINISHED, clusters, finished, unmeasured
from gde.numerics.stats import cluster_mean
from gde.seeding import generator


def length(evidence: Evidence) -> Sequence[Measurement]:
    """Mean number of turns of a finished episode, unusable answers counted."""
    trajectories = finished(evidence)
    if not trajectories:
        return [unmeasured("length", "turns", NOTHING_FINISHED)]
    turns = [len(trajectory.turns) for trajectory in trajectories]
    rng = generator(evidence.seed, "metric", "length")
    return [cluster_mean(turns, clusters(trajectories), rng).measurement("length", "turns")]
