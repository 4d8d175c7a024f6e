"""Does the agent reach its goal?"""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import NOTHING_FINISHED, finished, over_episodes, unmeasured

NO_GOAL = "the world has no goal that can be reached"


def success(evidence: Evidence) -> Sequence[Measurement]:
    """Goal success rate: the share of the goal that finished episodes reach, which is all or nothing in most worlds
    (Arghal et al. 2026, eq. 1)."""
    found = [(one.world.cluster, one.success) for one in finished(evidence)]
    reached = [(cluster, success) for cluster, success in found if success is not None]
    if not reached:
        return [unmeasured("success", "share", NO_GOAL if found else NOTHING_FINISHED)]
    return [over_episodes(evidence, "success", "share", reached)]
