"""The exact randomisation test of goal-blindness.

Let W be a world without its goal: start, layout, and whatever else its generator
applied. Let the goal g have the probabilities P(g | W), which the environment states.

1. A goal-blind agent chooses without regard to g. So its path, if no goal ever ended
   it, is independent of g given W.
2. The path is scored up to where it first reaches any of the possible goals, or to the
   shortest horizon under any of them. This part is a function of the path and W alone,
   and it is always recorded, whichever goal is present.
3. Hence, given W and this part, g still has the probabilities P(g | W), and so has its
   score S(g).
4. Worlds are independent. The statistic is the sum of S(g) over worlds. Under
   goal-blindness its distribution is that of the sum with every goal drawn again. The
   p value is twice the rank of the observed sum among DRAWS such sums (Dwass 1957;
   Phipson and Smyth 2010), from the nearer end. Equal sums count against the agent's
   being directed, towards the goal or away from it.

Nothing else is assumed: not how the agent moves, nor that its decisions are
independent, nor many worlds. The scores decide only how much the test sees.

In a run with a goal swap, each world is played with its goal g and with another, g',
which the experimenter set. An agent that is blind to the goal acts alike in both, so
its two paths could as well have been exchanged: the score is
S_1(g) + S_2(g') for the paths 1 and 2, and S_1(g') + S_2(g) if exchanged, each with
probability 1/2. This is exact whatever the agent knows of the worlds, even if it has
learned where their goals were. Paths are cut where they first reach g or g'.

Worlds of one cluster are variations of one world, whose goal was drawn once. Their
goals correspond by their places in that world, so they are drawn again together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from scipy.stats import t as student

from gde.data.arrays import Doubles
from gde.numerics.stats import CONFIDENCE, MINIMUM_CLUSTERS, Estimate
from gde_plugins.meg.verdict.pursuits import Scored

LEVEL = 0.05
DRAWS = 9999
TOLERANCE = 1e-9
"""Sums that are closer count as equal: they add up the same numbers in other orders."""


@dataclass(frozen=True, eq=False)
class Randomisation:
    """The scores of a run, by cluster of worlds; worlds without another goal left out."""

    clusters: tuple[Scored, ...]

    @classmethod
    def of(cls, episodes: Iterable[tuple[str, Scored]]) -> "Randomisation":
        """Add up the episodes of each cluster.

        Raises:
            GdeError: the worlds of a cluster have different counterfactual goals.
        """
        by_cluster: dict[str, Scored] = {}
        for cluster, scored in episodes:
            if len(scored.chances) < 2:
                continue
            before = by_cluster.get(cluster)
            by_cluster[cluster] = scored if before is None else before.plus(scored)
        return cls(tuple(by_cluster.values()))

    @cached_property
    def answered(self) -> tuple[Scored, ...]:
        """The clusters with a usable decision."""
        return tuple(each for each in self.clusters if each.usable)

    @cached_property
    def least_p(self) -> float:
        """The p value if every world with a usable decision pointed to its goal: what
        can be shown at best.
        """
        return 2 * prod(float(each.chances.max()) for each in self.answered)

    @property
    def is_towards(self) -> bool:
        """Whether the scores are higher than those of other goals on average."""
        return sum(each.excess for each in self.clusters) > 0

    @property
    def falls_short(self) -> bool:
        """Whether the agent is less directed where one action would reach the goal than
        elsewhere, as one that aims at a cell beside it: Student's test, one-sided.
        """
        n = len(self.clusters)
        scores = np.array([each.by_reach for each in self.clusters])
        shown, attainable = scores[..., 0], scores[..., 1]
        total = attainable.sum(axis=0)
        if n < MINIMUM_CLUSTERS or total.min() <= TOLERANCE:
            return False
        share = shown.sum(axis=0) / total
        residuals = ((shown - share * attainable) / total) @ [1, -1]
        error = float(np.sqrt((residuals**2).sum() * n / (n - 1)))
        reach = float(student.ppf(1 - LEVEL / 2, n - 1)) * error
        return float(share @ [1, -1]) > reach + TOLERANCE

    def p_value(self, rng: np.random.Generator, draws: int = DRAWS) -> float:
        """The p value of the hypothesis that the agent is goal-blind; two-sided."""
        observed = 0.0
        redrawn: Doubles = np.zeros(draws)
        for each in self.clusters:
            observed += float(each.scores[each.present])
            goals = rng.choice(len(each.chances), size=draws, p=each.chances)
            redrawn += each.scores[goals]
        as_large = np.count_nonzero(redrawn >= observed - TOLERANCE)
        as_small = np.count_nonzero(redrawn <= observed + TOLERANCE)
        return min(1.0, 2 * (1 + int(min(as_large, as_small))) / (1 + draws))

    def share(self) -> Estimate | None:
        """The agent's excess as a share of an optimal agent's in the same states.

        It estimates the share of optimal decisions in a mixture with random ones: an
        agent that errs 70 % of the time has 30 %. None where an optimal agent would
        show nothing.
        """
        excess = np.array([each.excess for each in self.clusters])
        attainable = np.array([each.attainable for each in self.clusters])
        if attainable.sum() <= TOLERANCE:
            return None
        return ratio(excess, attainable)


def ratio(excess: Doubles, attainable: Doubles) -> Estimate:
    """The ratio of two sums over (N,) clusters, with Student's interval.

    The error is the jackknife's: each cluster's residual is divided by its leverage's
    complement (HC3, MacKinnon and White 1985). A bootstrap covers too little here: an
    optimal agent leaves most clusters without a residual. Fewer than six clusters have
    no interval.
    """
    n = len(excess)
    total = float(attainable.sum())
    value = float(excess.sum()) / total
    interval = None
    leverage = attainable / total
    if n >= MINIMUM_CLUSTERS and leverage.max() < 1:
        residuals = (excess - value * attainable) / (1 - leverage)
        error = float(np.sqrt((residuals**2).sum())) / total
        reach = float(student.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
        interval = (value - reach, value + reach)
    return Estimate(value=value, interval=interval, n=n, n_clusters=n)
