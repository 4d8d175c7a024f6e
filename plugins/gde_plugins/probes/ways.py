"""How much of the way from an agent's own actions to its twin's a change makes: total variation of distributions."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gde.data.result import Measurement
from gde.numerics.episodes import unmeasured
from gde.numerics.stats import cluster_ratio, cluster_share

Actions = Sequence[Sequence[str | None]]
"""Of each case those of all samples, equally many; None for an answer that cannot be used, an outcome like others."""
NO_WAY = "the twins' prompts bring about no other actions than the cases' own, so there is no way to be made"


def way(
    before: Actions, after: Actions, twins: Actions, worlds: Sequence[str], rng: np.random.Generator
) -> Measurement:
    """ "way", 1 - sum of TV(after, twin) / sum of TV(before, twin) over cases, TV being the total variation distance of
    the distributions of the samples: 0 where a change makes nothing of the way, 1 where it makes all of it, below 0
    where it leads away. One sample is a distribution, too: its distance is 0 or 1.

    Args:
        before: the cases' own actions.
        after: those with the change.
        twins: those of the twins' prompts.
        worlds: (cases,) which the interval resamples.
        rng: for resampling.
    """
    whole, left = distances(before, twins), distances(after, twins)
    if not whole.any():
        return unmeasured("way", "share", NO_WAY)
    made = whole - left
    if (made >= 0).all():  # a share of the whole, which has an interval where it is the same in all worlds, too
        return cluster_share(made, worlds, rng, trials=whole).measurement("way", "share")
    return cluster_ratio(made, whole, worlds, rng).measurement("way", "share")


def distances(one: Actions, other: Actions) -> NDArray[np.float64]:
    """(cases,) total variation between the samples of each case, 0 to 1."""
    pairs = zip(one, other, strict=True)
    return np.array([(Counter(here) - Counter(there)).total() / len(here) for here, there in pairs])
