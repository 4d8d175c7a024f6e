"""How long the agent takes."""

from collections.abc import Sequence

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import NOTHING_FINISHED, finished, over_episodes, unmeasured
from gde.numerics.stats import cluster_mean


def length(evidence: Evidence) -> Sequence[Measurement]:
    """Mean number of turns of a finished episode, unusable answers counted."""
    turns = [(one.world.cluster, len(one.turns)) for one in finished(evidence)]
    if not turns:
        return [unmeasured("length", "turns", NOTHING_FINISHED)]
    return [over_episodes(evidence, "length", "turns", turns, cluster_mean)]
