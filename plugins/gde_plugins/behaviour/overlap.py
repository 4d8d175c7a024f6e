"""Similarity of the agent's actions between episodes of one world."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.data.trajectory import Trajectory
from gde.numerics.episodes import Place, finished, lacking, over_worlds, unmeasured
from gde_plugins.behaviour.visits import IDENTIFIED, StateKey, state_key

Pairs = frozenset[tuple[StateKey, str]]
ALONE = (
    "no world has two episodes with a usable answer; give the plan at least 2 repeats"
)


def overlap(evidence: Evidence) -> Sequence[Measurement]:
    """Jaccard similarity of two episodes of one world (Arghal et al. 2026, appendix B).

    |A and B| / |A or B| of the sets of state-action pairs, averaged over all pairs of episodes of a world, then over
    the worlds with at least two; n counts these worlds. Unusable answers are no
    actions. An episode without a usable answer is left out.
    """
    trajectories = finished(evidence)
    reason = lacking(trajectories, IDENTIFIED)
    if reason:
        return [unmeasured("overlap.jaccard", reason)]

    worlds: dict[Place, list[Pairs]] = {}
    for one in trajectories:
        pairs = _pairs(one)
        # Two empty sets have no similarity.
        if pairs:
            worlds.setdefault(Place.of(one), []).append(pairs)

    similarities: dict[Place, float] = {}
    for place, episodes in worlds.items():
        # Equal weights for worlds: those with more repeats have many more pairs of
        # episodes.
        shares = [len(a & b) / len(a | b) for a, b in combinations(episodes, 2)]
        if shares:
            similarities[place] = fmean(shares)
    return [over_worlds(evidence, "overlap.jaccard", similarities, reason=ALONE)]


def _pairs(trajectory: Trajectory) -> Pairs:
    pairs = set()
    for turn in trajectory.turns:
        action = turn.decision.action
        if action:
            pairs.add((state_key(trajectory.world, turn), action))
    return frozenset(pairs)
