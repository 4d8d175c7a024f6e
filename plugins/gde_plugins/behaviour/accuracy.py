"""Does the agent act optimally, step by step?"""

from collections.abc import Sequence
from statistics import fmean

from gde.data.evidence import Evidence
from gde.data.result import Measurement
from gde.numerics.episodes import (
    CERTIFIED,
    Place,
    by_world,
    count,
    is_optimal,
    lacking,
    over_worlds,
    played,
    pooled_share,
    unmeasured,
)


def accuracy(evidence: Evidence) -> Sequence[Measurement]:
    """Per-action accuracy (Arghal et al. 2026, eqs. 2 and 3), and the same pooled over all steps.

    "accuracy" is the share of optimal actions in a trajectory, averaged over the trajectories of a world, then over
    worlds: its n is the number of worlds. "accuracy.pooled" gives every step the same weight: its n is the number of
    steps. An unusable answer is a step that was not optimal.
    """
    if reason := lacking(played(evidence), CERTIFIED):
        return [unmeasured(name, "share", reason) for name in ("accuracy", "accuracy.pooled")]
    counts = [(Place.of(one), count(one, map(is_optimal, one.turns))) for one in played(evidence)]
    shares = by_world((place, one.hits / one.of) for place, one in counts)
    return [
        over_worlds(evidence, "accuracy", "share", {place: fmean(of_world) for place, of_world in shares.items()}),
        pooled_share(evidence, "accuracy.pooled", (one for _, one in counts)),
    ]
