"""Normalised shift of the action distribution towards the counterfactual's."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_ratio, cluster_share
from gde_plugins.probes.causes.cases import Actions

NAME = "normalised_shift"
NO_SHIFT = "the counterfactual prompts bring about no other actions than the cases' own, so there is nothing to shift"


def normalised_shift(
    before: Actions,
    after: Actions,
    counterfactuals: Actions,
    worlds: Sequence[str],
    rng: np.random.Generator,
) -> Measurement:
    """Measure "normalised_shift", 1 - sum of TV(after, counterfactual) / sum of
    TV(before, counterfactual), sums over cases.

    TV is the total variation distance of the distributions of the samples. The shift is
    0 for a change without effect, 1 where the actions become the counterfactual's, and
    below 0 where they move away from them. A single sample is a distribution too: its
    distance is 0 or 1.

    Args:
        before: the cases' own actions.
        after: actions with the change.
        counterfactuals: actions on the counterfactual prompts.
        worlds: (cases,) the clusters that the interval resamples.
        rng: for resampling.
    """
    distance_before = distances(before, counterfactuals)
    distance_after = distances(after, counterfactuals)
    if not distance_before.any():
        return unmeasured(NAME, NO_SHIFT)

    shift = distance_before - distance_after
    # Without a negative shift it is a share of the distance, whose interval exists even
    # where all worlds agree.
    if (shift >= 0).all():
        estimate = cluster_share(shift, worlds, rng, trials=distance_before)
    else:
        estimate = cluster_ratio(shift, distance_before, worlds, rng)
    return estimate.measurement(NAME)


def distances(one: Actions, other: Actions) -> NDArray[np.float64]:
    """(cases,) total variation distance between the samples of each case, 0 to 1."""
    found = []
    for here, there in zip(one, other, strict=True):
        surplus = Counter(here) - Counter(there)
        found.append(surplus.total() / len(here))
    return np.array(found)
