"""Does the agent reach its goal?"""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import NOTHING_FINISHED, clusters, finished, unmeasured
from gde.numerics.stats import cluster_share
from gde.seeding import generator

NO_GOAL = "the world has no goal that can be reached"


def success(evidence: Evidence) -> Sequence[Measurement]:
    """Goal success rate: the share of the goal that finished episodes reach, which is all or nothing in most worlds
    (Arghal et al. 2026, eq. 1)."""
    trajectories = [one for one in finished(evidence) if one.success is not None]
    if not trajectories:
        reason = NO_GOAL if finished(evidence) else NOTHING_FINISHED
        return [unmeasured("success", "share", reason)]
    reached = [trajectory.success or 0.0 for trajectory in trajectories]
    rng = generator(evidence.seed, "metric", "success")
    return [cluster_share(reached, clusters(trajectories), rng).measurement("success", "share")]
