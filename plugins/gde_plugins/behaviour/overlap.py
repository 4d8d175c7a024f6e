"""Does the agent do the same again in the same world?"""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import Place, by_world, finished, lacking, over_worlds, unmeasured
from gde_plugins.behaviour.visits import IDENTIFIED, StateKey, state_key

Pairs = frozenset[tuple[StateKey, str]]
ALONE = "no world has two episodes with a usable answer; give the plan at least 2 repeats"


def overlap(evidence: Evidence) -> Sequence[Measurement]:
    """Jaccard similarity of what was done in two episodes of one world (Arghal et al. 2026, appendix B).

    |A and B| / |A or B| of the sets of state-action pairs, averaged over all pairs of episodes of a world, then over
    the worlds with at least two: its n. Unusable answers are no actions; an episode of nothing else is left out.
    """
    trajectories = finished(evidence)
    if reason := lacking(trajectories, IDENTIFIED):
        return [unmeasured("overlap.jaccard", "share", reason)]
    worlds = by_world((Place.of(one), done) for one in trajectories if (done := _pairs(one)))
    values = {place: _mean_similarity(episodes) for place, episodes in worlds.items() if len(episodes) > 1}
    if not values:
        return [unmeasured("overlap.jaccard", "share", ALONE)]
    return [over_worlds(evidence, "overlap.jaccard", "share", values)]


def _pairs(trajectory: Trajectory) -> Pairs:
    taken = [(turn, turn.decision.action) for turn in trajectory.turns]
    return frozenset((state_key(trajectory.world, turn), action) for turn, action in taken if action)


def _mean_similarity(episodes: Sequence[Pairs]) -> float:
    return fmean(len(a & b) / len(a | b) for a, b in combinations(episodes, 2))
