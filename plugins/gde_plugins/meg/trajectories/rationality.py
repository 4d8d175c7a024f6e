"""The accuracy of behaviour on a grid of rationalities, and the bias of choosing the
best one.

The best rationality is chosen on the episodes that it is scored on. So their accuracy
is too high, by about 1 / (2 G) nats a cluster of G. If every cluster is predicted from
the others alone, the accuracy is too low by as much. The middle of the two is unbiased
to first order (tests/plugins/meg/test_coverage.py).
"""

from dataclasses import dataclass
from math import exp, inf, isfinite, isinf, log

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import chi2

from gde.data.arrays import Doubles, Indices
from gde.numerics.stats import (
    CONFIDENCE,
    MINIMUM_CLUSTERS,
    RESAMPLES,
    Interval,
    expanded_bca,
)
from gde_plugins.meg.solvers.dynamics import Mask
from gde_plugins.meg.trajectories.behaviour import Behaviour

MAGNITUDES = np.geomspace(1e-3, 1e2, 31)
"""Rationalities on the grid, in units of 1 / (largest minus smallest utility of a
state), of either sign. Where one state's utility dwarfs all other differences, the grid
goes on from there, see `_scan_side`.
"""
EXTREME = 1e15
"""Factor by which the grid may go on beyond either end; differences of utility are lost
in rounding there.
"""
STEP = float(np.log(MAGNITUDES[1] / MAGNITUDES[0]))
AROUND = np.exp(STEP * np.linspace(-1, 1, 17))
"""Factors of a finer grid around the best rationality."""
PRECISION = 1e-6
"""Relative error of the best rationality, so that it does not depend on the unit of the
utility.
"""
TIE = 1e-9
"""Nats an episode by which the limit of infinite rationality may fall short of a finite
one and still be the best.
"""


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """The accuracy of every rationality on each of G clusters."""

    betas: Doubles
    """(B,) the best rationality of all first, then the grid: 0, ..., +-inf, and a finer
    one around the best.
    """
    n_grid: int
    """Points of the grid, which is even in the logarithm."""
    accuracy: Doubles
    """(G, B) nats above chance, summed over the episodes of a cluster; 0 where
    `impossible`.
    """
    impossible: Mask
    """(G, B) whether the policy rules out what was done."""
    chance: Doubles
    """(B,) nats above chance of uniform choice in the same states; -inf where the
    policy rules some of it out.
    """

    @classmethod
    def of(cls, behaviour: Behaviour, clusters: Indices) -> "Profile":
        """Score behaviour on the grid, and find the best rationality between its
        points.

        Args:
            behaviour: of N episodes.
            clusters: (N,) number of each episode's cluster.
        """
        span = behaviour.span
        grid, coarse = _scan(behaviour, MAGNITUDES / span)
        beta, scores = _refine(behaviour, grid, coarse)

        # The best point itself is left out, since the table has it already.
        around = np.zeros(0)
        if isfinite(beta) and beta:
            around = beta * AROUND[AROUND != 1]
        fine = behaviour.table(around)
        betas = np.array([beta, *grid, *around])
        table = np.vstack([scores, coarse, fine]).T

        # An infinite loss is kept apart from the sums, so that leaving a cluster out
        # can undo it.
        impossible = np.isneginf(table)
        nats = np.where(impossible, 0.0, table)
        n_clusters = clusters.max() + 1
        shape = (n_clusters, len(betas))
        sums = np.zeros(shape)
        ruled_out = np.zeros(shape, dtype=bool)
        np.add.at(sums, clusters, nats)
        np.logical_or.at(ruled_out, clusters, impossible)

        # Chance matters only where no choice but optimal ones was seen; elsewhere the
        # sweeps are not worth it.
        chance = np.full(len(betas), -inf)
        if isinf(beta):
            for i, each in enumerate(betas):
                chance[i] = behaviour.scores_of_chance(each).sum()

        return cls(
            betas=betas,
            n_grid=len(grid),
            accuracy=sums,
            impossible=ruled_out,
            chance=chance,
        )

    @property
    def beta(self) -> float:
        """The best rationality."""
        return float(self.betas[0])

    @property
    def best(self) -> float:
        """Nats of all episodes at the best rationality."""
        return float(self.accuracy[:, 0].sum())

    def cross_fitted(self) -> Doubles:
        """Return (G,) nats of each cluster, predicted from the others by their
        posterior of the rationality.

        Unlike a single best rationality, a weighted prediction never rules out what the
        others happened not to do.
        """
        posterior = self._without_one() + self._log_prior()
        own = np.where(self.impossible, -inf, self.accuracy)

        # The posterior is not normalised, so its own sum is taken off.
        joint = logsumexp(posterior + own, axis=1)
        others: Doubles = logsumexp(posterior, axis=1)
        nats: Doubles = joint - others
        return nats

    def _log_prior(self) -> Doubles:
        """Return (B,) a prior uniform in the log magnitude, alike on both sides; 0 and
        +-inf weigh one step each. Points between those of the grid weigh nothing.
        """
        prior = np.full(len(self.betas), -inf)
        prior[1 : 1 + self.n_grid] = -log(self.n_grid)
        return prior

    def intervals(
        self, rng: np.random.Generator, *per: Doubles
    ) -> list[Interval | None]:
        """Return 95 % intervals of the signed accuracy over the sum of each of `per`
        (G,), e.g. numbers of episodes.

        The best rationality of every resample of the clusters is found again. The
        interval is that of the signed square root, which near zero is proportional to
        the rationality, where the accuracy itself is folded. It holds zero as long as
        the likelihood-ratio test (Wilks 1938) does not reject uniform choice. None
        with fewer than `MINIMUM_CLUSTERS`.
        """
        n_clusters = len(self.accuracy)
        if n_clusters < MINIMUM_CLUSTERS:
            return [None for _ in per]

        # All intervals share the resamples, whose totals are the expensive part.
        evenly = np.full(n_clusters, 1 / n_clusters)
        drawn = rng.multinomial(n_clusters, evenly, size=RESAMPLES)
        counts = drawn.astype(np.float64)
        # (R, B) nats for (R, G) counts of the clusters.
        ruled_out = counts @ self.impossible > 0
        totals = np.where(ruled_out, -inf, counts @ self.accuracy)

        intervals: list[Interval | None] = []
        for each in per:
            intervals.append(self._interval(totals, counts @ each, each))
        return intervals

    def _interval(
        self, totals: Doubles, divisors: Doubles, per: Doubles
    ) -> Interval | None:
        """Compute an interval from the (R, B) totals of R resamples and their (R,)
        divisors.
        """
        # The sample itself is read as a single resample.
        own_totals = self._of_all()[None]
        own_divisor = per.sum(keepdims=True)
        value = float(self._roots(own_totals, own_divisor)[0])

        replicates = self._roots(totals, divisors)
        left = per.sum() - per
        jackknife = self._roots(self._without_one(), left)
        roots = expanded_bca(value, replicates, jackknife, len(self.accuracy))
        if roots is None:
            return None

        # Back from roots to nats, sign and all.
        low_root, high_root = roots
        low = low_root * abs(low_root)
        high = high_root * abs(high_root)

        # Wilks: twice the log-likelihood ratio to uniform choice is chi-squared where
        # choice is uniform.
        threshold = chi2.ppf(CONFIDENCE, 1)
        if 2 * self.best < threshold:
            return min(low, 0.0), max(high, 0.0)

        # Where all resamples agree on the limit, the interval would be too narrow.
        if isinf(self.beta):
            least = self._least(per)
            if self.beta > 0:
                return min(low, least), high
            return low, max(high, -least)
        return low, high

    def _roots(self, totals: Doubles, per: Doubles) -> Doubles:
        """Return (R,) roots of the largest of (R, B) totals over (R,) `per`, with the
        sign of their rationality.
        """
        best = totals.argmax(axis=1)
        sign = np.sign(self.betas[best])
        most = np.maximum(totals.max(axis=1), 0.0)

        # A resample may consist of clusters without a decision.
        nothing = np.zeros_like(most)
        ratio = np.divide(most, per, where=per > 0, out=nothing)
        roots: Doubles = sign * np.sqrt(ratio)
        return roots

    def _least(self, per: Doubles) -> float:
        """Return a lower bound where only optimal actions were seen, so that resampling
        sees no other.

        Clopper and Pearson (1934) bound the share of clusters that would show another
        action, at 97.5 % confidence. These clusters are taken to choose uniformly in
        the states of the others.
        """
        tail = (1 - CONFIDENCE) / 2
        share = 1 - float(tail ** (1 / len(self.accuracy)))
        totals = (1 - share) * self._of_all() + share * self.chance
        bound = float(totals.max() / per.sum())
        return max(0.0, bound)

    def _of_all(self) -> Doubles:
        """Return (B,) nats of all episodes."""
        ruled_out = self.impossible.any(axis=0)
        total = self.accuracy.sum(axis=0)
        return np.where(ruled_out, -inf, total)

    def _without_one(self) -> Doubles:
        """Return (G, B) nats of all clusters but one."""
        by_others = self.impossible.sum(axis=0) - self.impossible
        total = self.accuracy.sum(axis=0)
        return np.where(by_others > 0, -inf, total - self.accuracy)


def best_rationality(behaviour: Behaviour) -> tuple[float, Doubles]:
    """Return the best rationality and the scores (N,) at it."""
    span = behaviour.span
    return _refine(behaviour, *_scan(behaviour, MAGNITUDES / span))


def _scan(behaviour: Behaviour, magnitudes: Doubles) -> tuple[Doubles, Doubles]:
    """Return (B,) the grid 0, ..., +-inf and (B, N) the scores on it."""
    table = {0.0: behaviour.scores(0.0)}
    for sign in (1.0, -1.0):
        side = _scan_side(behaviour, sign * magnitudes)
        table.update(side)
    for limit in (inf, -inf):
        table[limit] = behaviour.scores(limit)

    betas = np.array(list(table))
    scores = np.stack(list(table.values()))
    return betas, scores


def _scan_side(behaviour: Behaviour, betas: Doubles) -> dict[float, Doubles]:
    """Return scores (N,) by rationality: over all `betas`, and beyond an end as long as
    that is the best.
    """
    scores = behaviour.table(betas)
    table = dict(zip(betas.tolist(), scores, strict=True))
    slack = TIE * behaviour.n_episodes

    inwards = (float(betas[0]), exp(-STEP))
    outwards = (float(betas[-1]), exp(STEP))
    for end, factor in (inwards, outwards):
        furthest = end
        while 1 / EXTREME < furthest / end < EXTREME:
            # Chance is a rival too: without a gain over it there is nothing to look for
            # further out.
            rival = 0.0
            for beta, nats in table.items():
                if beta != furthest:
                    rival = max(rival, nats.sum())
            if table[furthest].sum() <= rival + slack:
                break

            furthest *= factor
            table[furthest] = behaviour.scores(furthest)
    return table


def _refine(
    behaviour: Behaviour, grid: Doubles, table: Doubles
) -> tuple[float, Doubles]:
    """Return the best rationality and the scores (N,) at it; 0 or +-inf where nothing
    finite is better.
    """
    totals = table.sum(axis=1)
    slack = TIE * behaviour.n_episodes

    # Chance comes first, then the limits, which stand at the end of the grid.
    specials = (0, len(grid) - 2, len(grid) - 1)
    for special in specials:
        if totals[special] >= totals.max() - slack:
            return float(grid[special]), table[special]

    at = int(totals.argmax())
    center = log(abs(grid[at]))
    sign = float(np.sign(grid[at]))

    def loss(log_magnitude: float) -> float:
        nats = behaviour.scores(sign * exp(log_magnitude))
        return -float(nats.sum())

    found = minimize_scalar(
        loss,
        bounds=(center - STEP, center + STEP),
        method="bounded",
        options={"xatol": PRECISION},
    )
    # With several maxima between the neighbours the search may end at a lesser one.
    beta = float(grid[at])
    if -found.fun >= totals[at]:
        beta = sign * exp(found.x)
    return beta, behaviour.scores(beta)
