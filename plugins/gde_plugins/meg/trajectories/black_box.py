"""Worlds too large to tabulate: a certified lower bound from episodes and black-box
access.

Any function V of states is the soft value of some utility: U(s) = V(s) - ln mean_a
exp(gamma * E[V(s') | s, a]), in episodes without horizon (terminal states are worth V).
So the policy in proportion to exp(gamma * E[V(s')]) is exactly soft-optimal for that U.
Its accuracy on episodes that it was not fitted to is an unbiased estimate of a lower
bound of MEG towards any utility of states (MacDermott et al. 2024, Definition 4.3). No
soft Q-learning is needed and no error of a planner is left.

V is a weighted sum of features of states, so the fit is a logistic regression. How far
its weights may go is chosen on further episodes. Nowhere at all is a choice too, which
is worth 0 nats like any agent's MEG at least.

In stochastic worlds the expectation is a mean over samples, which is unbiased. The
prediction is the difference of one such mean, that of the action taken, and the log of
a sum of exponentials of all, which is convex. By Jensen's inequality, noise in the
samples lowers the prediction, so the bound holds with a single sample of each action.
Only V(s') may enter, and the samples must be drawn apart from the fit, as they are in
other episodes.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from gde.data.arrays import Doubles, Indices
from gde.numerics.stats import Estimate, cluster_mean
from gde_plugins.meg.solvers.dynamics import Mask

FOLDS = 2
"""Parts that the clusters of episodes are cut into."""
SPREADS = (0.1, 1.0, 10.0)
"""Standard deviations of the weights' normal prior that are tried, beside 0.

With wider ones a single unusual episode may cost more than all others gain.
"""
ITERATIONS = 100
"""Of a fit: any weights give a bound that holds, and more hardly change it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Tries:
    """The D decisions of N episodes, with M sampled successors of each action."""

    following: NDArray[np.float32]
    """(D, A, M, F) numbers that describe the states that followed."""
    chances: NDArray[np.float32]
    """(D, A, M) probabilities of these: 1 / M for M samples; all 0 for an action that
    is not admissible then.
    """
    taken: Indices
    """(D,) the agent's actions."""
    episodes: Indices
    """(D,) each decision's episode, from 0 to N - 1."""
    clusters: Indices
    """(N,) each episode's unit of resampling, see `resampling_units`."""
    weights: Doubles
    """(D,) discount ** t."""
    discount: float = 1.0

    def of(self, chosen: Mask) -> "Tries":
        """Return the decisions of the chosen (N,) episodes."""
        selected = chosen[self.episodes]
        return replace(
            self,
            following=self.following[selected],
            chances=self.chances[selected],
            taken=self.taken[selected],
            episodes=self.episodes[selected],
            weights=self.weights[selected],
        )

    def halves(self, rng: np.random.Generator) -> Indices:
        """Return the (N,) fold of each episode, of those whose decisions are left."""
        used = np.unique(self.clusters[np.unique(self.episodes)])
        part = np.full(int(self.clusters.max()) + 1, -1)
        part[used] = rng.permutation(len(used)) % FOLDS
        return part[self.clusters]


def lower_bound(tries: Tries, features: Any, rng: np.random.Generator) -> Estimate:
    """Bound the nats an episode from below: each fold of clusters is predicted by
    weights fitted to the others.

    Args:
        tries: the decisions and the successors of all actions.
        features: a transformer of scikit-learn, from (n, F) descriptions of states to
            (n, K) features; fitted anew to each fold.
        rng: for the folds and the interval.

    Returns:
        The mean over episodes with its 95 % interval over clusters, both at least 0;
        the lower end of the interval is the certified bound. The value is that of the
        features: MEG itself may be higher.

    Raises:
        ValueError: fewer clusters than folds.
    """
    n_clusters = int(tries.clusters.max(initial=-1)) + 1
    if n_clusters < FOLDS:
        raise ValueError(
            f"wanted at least {FOLDS} clusters of episodes, one for each fold, got {n_clusters}"
        )

    # Whole clusters, so that no weights have seen the world of an episode that they
    # predict.
    part = tries.halves(rng)
    scores = np.zeros(len(tries.clusters))
    for fold in range(FOLDS):
        others = tries.of(part != fold)
        # What is not admissible leads nowhere.
        fitted = features.fit(others.following[others.chances > 0])
        weights = _chosen(others, fitted, rng)
        scores += _scores(tries.of(part == fold), fitted, weights)

    found = cluster_mean(scores, tries.clusters, rng)
    interval = found.interval
    if not scores.any():
        # Nothing predicts the behaviour, and 0 is a bound whatever the data.
        interval = (0.0, 0.0)
    elif interval is not None:
        interval = (max(interval[0], 0.0), max(interval[1], 0.0))
    return replace(found, value=max(found.value, 0.0), interval=interval)


def _chosen(tries: Tries, features: Any, rng: np.random.Generator) -> Doubles:
    """Return (K,) weights, zero if none predict episodes that they were not fitted to."""
    part = tries.halves(rng)
    problem = _Choice.of(tries, features)
    nothing = np.zeros(problem.ahead.shape[-1])
    if len(np.unique(part[tries.episodes])) < FOLDS:
        return nothing
    gains = dict.fromkeys(SPREADS, 0.0)
    for fold in range(FOLDS):
        others = _Choice.of(tries.of(part != fold), features)
        held_out = tries.of(part == fold)
        for spread in SPREADS:
            weights = others.fit(spread)
            gains[spread] += float(_scores(held_out, features, weights).sum())

    best = max(gains, key=lambda spread: gains[spread])
    return problem.fit(best) if gains[best] > 0 else nothing


def _scores(tries: Tries, features: Any, weights: Doubles) -> Doubles:
    """Return (N,) nats above chance of each episode."""
    if not len(tries.taken):
        return np.zeros(len(tries.clusters))
    nats = _Choice.of(tries, features).nats(weights) * tries.weights
    summed = np.bincount(tries.episodes, weights=nats, minlength=len(tries.clusters))
    return summed.astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Choice:
    """D decisions as choices between the features that are expected next."""

    ahead: Doubles
    """(D, A, K) expected features after each action."""
    admissible: Mask
    """(D, A)"""
    tries: Tries

    @classmethod
    def of(cls, tries: Tries, features: Any) -> "_Choice":
        *shape, n_inputs = tries.following.shape
        flat = features.transform(tries.following.reshape(-1, n_inputs))
        by_try = np.asarray(flat, dtype=np.float64).reshape(*shape, -1)
        expected = np.einsum("damk,dam->dak", by_try, tries.chances)
        return cls(
            tries.discount * expected, np.asarray(tries.chances.any(axis=-1)), tries
        )

    def nats(self, weights: Doubles) -> Doubles:
        """Return (D,) log-probabilities of the actions taken, above chance among the
        admissible ones.
        """
        places = np.arange(len(self.ahead)), self.tries.taken
        nats: Doubles = self._logs(weights)[places]
        return nats

    def fit(self, spread: float) -> Doubles:
        """Return the (K,) weights of the highest posterior."""
        taken = np.arange(self.ahead.shape[1]) == self.tries.taken[:, None]
        counts = self.tries.weights[:, None]

        def loss(weights: Doubles) -> tuple[float, Doubles]:
            logs = self._logs(weights)
            n_open = self.admissible.sum(axis=1, keepdims=True)
            excess = counts * (np.exp(logs) / n_open - taken)
            slope = np.einsum("da,dak->k", excess, self.ahead)
            nats = float((counts * logs)[taken].sum())
            penalty = weights / spread**2
            return float(weights @ penalty) / 2 - nats, penalty + slope

        start = np.zeros(self.ahead.shape[-1])
        options = {"maxiter": ITERATIONS}
        found: Doubles = minimize(
            loss, start, jac=True, method="L-BFGS-B", options=options
        ).x
        return found

    def _logs(self, weights: Doubles) -> Doubles:
        """(D, A) log-probabilities above chance; -inf where not admissible."""
        merits = np.where(self.admissible, self.ahead @ weights, -inf)
        n_open = self.admissible.sum(axis=1, keepdims=True)
        logs: Doubles = (
            merits - logsumexp(merits, axis=1, keepdims=True) + np.log(n_open)
        )
        return logs
