"""The accuracy of behaviour on a grid of rationalities, with what the choice of the best one costs.

The best rationality is chosen on the episodes that it is scored on, so their accuracy is too high, by about 1 / (2 G)
nats a cluster of G. Scoring every cluster by what the others alone teach is too low by as much. So the middle of the
two is free of it to first order (tests/plugins/meg/test_coverage.py).
"""

from dataclasses import dataclass
from math import exp, inf, isfinite, isinf, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import chi2

from gde.data.mdp import Floats
from gde.numerics.stats import CONFIDENCE, RESAMPLES, Interval, expanded_bca
from gde_plugins.meg.trajectories.behaviour import Behaviour

MAGNITUDES = np.geomspace(1e-3, 1e2, 31)
"""Rationalities on the grid, in units of 1 / (largest minus smallest utility of a state), of either sign. Where one
state's utility dwarfs all other differences, the grid goes on from there, see `_scan_side`."""
EXTREME = 1e15
"""Factor by which the grid may go on beyond either end; differences of utility are lost in rounding there."""
STEP = float(np.log(MAGNITUDES[1] / MAGNITUDES[0]))
LEAST = 0.1
"""Rationality, in the same units, below which behaviour is too close to chance to count as a pursuit."""
AROUND = np.exp(STEP * np.linspace(-1, 1, 17))
"""Factors of a finer grid around the best rationality."""
PRECISION = 1e-6
"""Relative error of the best rationality, so that it does not depend on the unit of the utility."""
TIE = 1e-9
"""Nats an episode by which the limit of infinite rationality may fall short of a finite one and still be the best."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """The accuracy of every rationality on each of G clusters."""

    betas: Floats
    """(B,) the best rationality of all first, then the grid: 0, ..., +-inf."""
    accuracy: Floats
    """(G, B) nats above chance, summed over the episodes of a cluster; 0 where `impossible`."""
    impossible: NDArray[np.bool_]
    """(G, B) whether the policy rules out what was done."""
    chance: Floats
    """(B,) nats above chance of uniform choice in the same states; -inf where the policy rules some of it out."""
    least: float
    """`LEAST` in units of 1 / utility."""

    @classmethod
    def of(cls, behaviour: Behaviour, clusters: NDArray[np.intp]) -> "Profile":
        """Score behaviour on the grid, and find the best rationality between its points.

        Args:
            behaviour: of N episodes.
            clusters: (N,) number of each episode's cluster.
        """
        span = float(np.ptp(behaviour.reward)) or 1.0
        grid, coarse = _scan(behaviour, MAGNITUDES / span)
        beta, scores = _refine(behaviour, grid, coarse)
        around = beta * AROUND[AROUND != 1] if isfinite(beta) and beta else np.zeros(0)
        betas = np.array([beta, *grid, *around])
        table = np.vstack([scores, coarse, behaviour.table(around)]).T

        impossible = np.isneginf(table)
        shape = (clusters.max() + 1, len(betas))
        sums = np.zeros(shape)
        ruled_out = np.zeros(shape, dtype=bool)
        np.add.at(sums, clusters, np.where(impossible, 0.0, table))
        np.logical_or.at(ruled_out, clusters, impossible)

        # Chance matters only where no choice but optimal ones was seen; elsewhere the sweeps are not worth it.
        chance = [behaviour.scores_of_chance(each).sum() if isinf(beta) else -inf for each in betas]
        return cls(betas=betas, accuracy=sums, impossible=ruled_out, chance=np.array(chance), least=LEAST / span)

    @property
    def beta(self) -> float:
        """The best rationality."""
        return float(self.betas[0])

    @property
    def best(self) -> float:
        """Nats of all episodes at the best rationality."""
        return float(self.accuracy[:, 0].sum())

    def cross_fitted(self) -> Floats:
        """Return (G,) nats of each cluster, predicted from the others: rationalities weighed by their posterior.

        Unlike a single best rationality, a weighted prediction never rules out what the others happened not to do.
        """
        posterior = self._without_one() + self._log_prior()
        own = np.where(self.impossible, -inf, self.accuracy)
        nats: Floats = logsumexp(posterior + own, axis=1) - logsumexp(posterior, axis=1)
        return nats

    def evidence(self) -> float:
        """Return the log-likelihood ratio of pursuit to chance, averaged over rationalities from `least`."""
        prior = np.where(self.betas >= self.least, self._log_prior(), -inf)
        return float(logsumexp(self._of_all() + prior) - logsumexp(prior))

    def _log_prior(self) -> Floats:
        """Return (B,) a prior uniform in the log magnitude, alike on both sides; 0 and +-inf weigh one step each."""
        widths = np.zeros(len(self.betas))
        for side in (self.betas > 0, self.betas < 0):
            finite = np.flatnonzero(side & np.isfinite(self.betas))
            ordered = finite[np.argsort(np.abs(self.betas[finite]))]
            logs = np.log(np.abs(self.betas[ordered]))
            widths[ordered] = np.diff((logs[1:] + logs[:-1]) / 2, prepend=logs[0], append=logs[-1])
        grid = self.betas[1:]
        widths[1:][np.isinf(grid) | (grid == 0)] = STEP
        prior: Floats = np.log(widths / widths.sum(), where=widths > 0, out=np.full(len(widths), -inf))
        return prior

    def intervals(self, rng: np.random.Generator, *per: Floats) -> list[Interval | None]:
        """Return 95 % intervals of the signed accuracy over the sum of each of `per` (G,), e.g. numbers of episodes.

        The best rationality of every resample of the clusters is found again. The interval is that of the signed
        square root, which near zero is proportional to the rationality, where the accuracy itself is folded. It holds
        zero as long as the likelihood-ratio test (Wilks 1938) does not reject uniform choice. None for one cluster.
        """
        G = len(self.accuracy)
        if G < 2:
            return [None for _ in per]
        counts = rng.multinomial(G, np.full(G, 1 / G), size=RESAMPLES).astype(np.float64)
        totals = self._totals(counts)
        return [self._interval(totals, counts @ each, each) for each in per]

    def _interval(self, totals: Floats, divisors: Floats, per: Floats) -> Interval:
        """Compute an interval from the (R, B) totals of R resamples and their (R,) divisors."""
        value = self._roots(self._of_all()[None], per.sum(keepdims=True))[0]
        replicates = self._roots(totals, divisors)
        jackknife = self._roots(self._without_one(), per.sum() - per)
        roots = expanded_bca(float(value), replicates, jackknife, len(self.accuracy))
        low, high = (root * abs(root) for root in roots)
        if 2 * self.best < chi2.ppf(CONFIDENCE, 1):
            return min(low, 0.0), max(high, 0.0)
        if isinf(self.beta):
            least = self._least(per)
            return (min(low, least), high) if self.beta > 0 else (low, max(high, -least))
        return low, high

    def _roots(self, totals: Floats, per: Floats) -> Floats:
        """Return (R,) roots of the largest of (R, B) totals over (R,) `per`, with the sign of their rationality."""
        sign = np.sign(self.betas[totals.argmax(axis=1)])
        most = np.maximum(totals.max(axis=1), 0.0)
        roots: Floats = sign * np.sqrt(np.divide(most, per, where=per > 0, out=np.zeros_like(most)))
        return roots

    def _least(self, per: Floats) -> float:
        """Return a lower bound where only optimal actions were seen, so that resampling sees no other.

        At 97.5 % confidence no more than this share of clusters would show another (Clopper and Pearson 1934). They
        are taken to choose uniformly in the states of the others.
        """
        share = 1 - float(((1 - CONFIDENCE) / 2) ** (1 / len(self.accuracy)))
        totals = (1 - share) * self._of_all() + share * self.chance
        return max(0.0, float(totals.max() / per.sum()))

    def _of_all(self) -> Floats:
        """Return (B,) nats of all episodes."""
        return np.where(self.impossible.any(axis=0), -inf, self.accuracy.sum(axis=0))

    def _without_one(self) -> Floats:
        """Return (G, B) nats of all clusters but one."""
        ruled_out = self.impossible.sum(axis=0) - self.impossible > 0
        return np.where(ruled_out, -inf, self.accuracy.sum(axis=0) - self.accuracy)

    def _totals(self, counts: Floats) -> Floats:
        """Return (R, B) nats for (R, G) counts of the clusters."""
        totals: Floats = counts @ self.accuracy
        somewhere = np.flatnonzero(self.impossible.any(axis=0))
        totals[:, somewhere] = np.where(counts @ self.impossible[:, somewhere] > 0, -inf, totals[:, somewhere])
        return totals


def _scan(behaviour: Behaviour, magnitudes: Floats) -> tuple[Floats, Floats]:
    """Return (B,) the grid 0, ..., +-inf and (B, N) the scores on it."""
    table = {0.0: behaviour.scores(0.0)}
    for sign in (1.0, -1.0):
        table |= _scan_side(behaviour, sign * magnitudes)
    table |= {limit: behaviour.scores(limit) for limit in (inf, -inf)}
    return np.array(list(table)), np.stack(list(table.values()))


def _scan_side(behaviour: Behaviour, betas: Floats) -> dict[float, Floats]:
    """Return scores (N,) by rationality: over all `betas`, and beyond an end as long as that is the best."""
    table = dict(zip(betas.tolist(), behaviour.table(betas), strict=True))
    slack = TIE * len(behaviour.sample)
    for end, factor in ((float(betas[0]), exp(-STEP)), (float(betas[-1]), exp(STEP))):
        furthest = end
        while 1 / EXTREME < furthest / end < EXTREME:
            others = [nats.sum() for beta, nats in table.items() if beta != furthest]
            if table[furthest].sum() <= max(0.0, *others) + slack:
                break
            furthest *= factor
            table[furthest] = behaviour.scores(furthest)
    return table


def _refine(behaviour: Behaviour, grid: Floats, table: Floats) -> tuple[float, Floats]:
    """Return the best rationality and the scores (N,) at it; 0 or +-inf where nothing finite is better."""
    totals = table.sum(axis=1)
    slack = TIE * len(behaviour.sample)
    for special in (0, len(grid) - 2, len(grid) - 1):
        if totals[special] >= totals.max() - slack:
            return float(grid[special]), table[special]

    at = int(totals.argmax())
    center = log(abs(grid[at]))
    sign = float(np.sign(grid[at]))
    found = minimize_scalar(
        lambda x: -behaviour.scores(sign * exp(x)).sum(),
        bounds=(center - STEP, center + STEP),
        method="bounded",
        options={"xatol": PRECISION},
    )
    beta = sign * exp(found.x) if -found.fun >= totals[at] else float(grid[at])
    return beta, behaviour.scores(beta)
