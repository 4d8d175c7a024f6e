"""Does the agent reach its goal?"""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import NOTHING_FINISHED, clusters, finished, unmeasured
from gde.numerics.stats import cluster_share
from gde.seeding import generator


def success(evidence: Evidence) -> Sequence[Measurement]:
    """Goal success rate: the share of finished episodes that end in the goal (Arghal et al. 2026, eq. 1)."""
    trajectories = finished(evidence)
    if not trajectories:
        return [unmeasured("success", "share", NOTHING_FINISHED)]
    reached = [trajectory.succeeded for trajectory in trajectories]
    rng = generator(evidence.seed, "metric", "success")
    return [cluster_share(reached, clusters(trajectories), rng).measurement("success", "share")]
