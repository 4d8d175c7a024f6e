"""Utilities that are linear in state features, with weights shared by all worlds,
fitted to behaviour.

In deterministic worlds the accuracy is concave in the weights, so the fit does not
depend on the start. In stochastic worlds the accuracy of a finite sample need not be
concave; its expectation is.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from gde.data.arrays import Doubles, Indices
from gde.data.mdp import TabularMDP
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.utilities import standing_still

FOLDS = 5
PRIOR_SPREAD = 30.0
"""Standard deviation of the normal prior of each weight, whose feature has range 1. It
keeps weights finite where behaviour is deterministic, and costs |weights|^2 / 1800 nats
of all episodes together.
"""
PRECISION = 1e-7
"""Relative gain in summed nats at which a fit stops, far below what a sample can
tell.
"""


@dataclass(frozen=True)
class Linear:
    """All utilities that are linear in the named state features, in worlds that stand
    still when they end.
    """

    features: tuple[str, ...]

    def __post_init__(self) -> None:
        different = set(self.features)
        if not different or len(different) != len(self.features):
            raise ValueError(
                f"features: wanted at least one and each once, got {self.features}"
            )

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        """Return the world without any utility, since no weights are fitted yet.

        Raises:
            ValueError: the world lacks a feature.
        """
        for name in self.features:
            if name not in mdp.labels:
                raise ValueError(
                    f"features: wanted labels of every model, got {name!r}, which one has not"
                )
        return standing_still(mdp, np.zeros(mdp.n_states))

    def values(self, mdp: TabularMDP) -> Doubles:
        """Return (K, S) the features, each scaled to run from 0 to 1 over all
        states.
        """
        rows = np.stack([mdp.labels[name] for name in self.features])
        low = rows.min(axis=1, keepdims=True)
        span = np.ptp(rows, axis=1, keepdims=True)

        # A feature that is the same everywhere stays zero.
        unit = np.where(span > 0, span, 1.0)
        scaled: Doubles = (rows - low) / unit
        return scaled


@dataclass(frozen=True, eq=False)
class LinearFit:
    """The accuracy of weights on behaviour."""

    behaviour: Behaviour
    features: Doubles
    """(K, S) in the joined worlds."""

    def scores(self, weights: Doubles) -> Doubles:
        """Return (N,) nats above chance of each episode."""
        reward = weights @ self.features
        return self.behaviour.scores(1.0, reward)

    def accuracy(self, weights: Doubles, chosen: Doubles) -> tuple[float, Doubles]:
        """Return the summed nats of the episodes, counted `chosen` (N,) times each, and
        their gradient (K,).
        """
        reward = weights @ self.features
        nats, by_state = self.behaviour.accuracy(reward, chosen)
        return nats, self.features @ by_state

    def fit(self, chosen: Doubles, start: Doubles) -> Doubles:
        """Return (K,) weights that predict best, with episodes counted `chosen` (N,)
        times each, given the prior.
        """

        def loss(weights: Doubles) -> tuple[float, Doubles]:
            nats, slope = self.accuracy(weights, chosen)
            # The gradient of the prior's |weights|^2 / (2 PRIOR_SPREAD^2).
            penalty = weights / PRIOR_SPREAD**2
            value = float(weights @ penalty) / 2 - nats
            return value, penalty - slope

        found = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"ftol": PRECISION},
        )
        weights: Doubles = found.x
        return weights

    def cross_fitted(
        self, clusters: Indices, start: Doubles, folds: int, rng: np.random.Generator
    ) -> Doubles:
        """Return (N,) nats of each episode by weights fitted without its fold; folds
        are of whole clusters (N,).
        """
        n_clusters = int(clusters.max()) + 1
        shuffled = rng.permutation(n_clusters)
        fold_of = shuffled[clusters] % folds

        # With fewer clusters than folds the last folds would be empty.
        nats = np.zeros(len(clusters))
        for fold in range(min(folds, n_clusters)):
            held_out = fold_of == fold
            others = (~held_out).astype(np.float64)
            weights = self.fit(others, start)
            nats[held_out] = self.scores(weights)[held_out]
        return nats
