"""Utilities that are linear in state features, with weights shared by all worlds, fitted to behaviour.

In deterministic worlds the accuracy of the weights is concave, so that the best ones are found whatever the start.
Where chance decides what follows, a finite sample's accuracy need not be; its expectation is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gde.data.mdp import Floats, TabularMDP
from gde_plugins.meg.trajectories.behaviour import Behaviour
from gde_plugins.meg.trajectories.candidates import standing_still
from gde_plugins.meg.trajectories.episodes import Episode
from gde_plugins.meg.trajectories.side_by_side import Sample

FOLDS = 5
PRIOR_SPREAD = 30.0
"""Standard deviation of the normal prior of each weight, whose feature has range 1. It keeps weights finite where
behaviour is deterministic, and costs |weights|^2 / 1800 nats of all episodes together."""

PRECISION = 1e-7
"""Relative gain in summed nats at which a fit stops: far below what a sample can tell."""


@dataclass(frozen=True)
class Linear:
    """All utilities that are linear in the named state features, in worlds that stand still when they end."""

    features: tuple[str, ...]
    stands_still: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.features or len(set(self.features)) != len(self.features):
            raise ValueError(f"features: wanted at least one and each once, got {self.features}")

    def reward(self, mdp: TabularMDP) -> Floats:
        """(S,) no utility: there is none before weights are fitted.

        Raises:
            ValueError: the world lacks a feature.
        """
        if missing := [name for name in self.features if name not in mdp.labels]:
            raise ValueError(f"features: wanted labels of every model, got {missing[0]!r}, which one has not")
        return np.zeros(mdp.n_states)

    def __call__(self, mdp: TabularMDP) -> TabularMDP:
        """The world before any utility is given to it."""
        return standing_still(mdp, self.reward(mdp))

    def values(self, mdp: TabularMDP) -> Floats:
        """(K, S) the features, each from 0 to 1 over all states."""
        rows = np.stack([mdp.labels[name] for name in self.features])
        low, span = rows.min(axis=1, keepdims=True), np.ptp(rows, axis=1, keepdims=True)
        scaled: Floats = (rows - low) / np.where(span > 0, span, 1.0)
        return scaled


@dataclass(frozen=True, eq=False)
class LinearFit:
    """The accuracy of weights on behaviour."""

    behaviour: Behaviour
    features: Floats
    """(K, S) in the behaviour's world."""
    spread: float = PRIOR_SPREAD
    """Standard deviation of the prior of each weight."""

    def scores(self, weights: Floats) -> Floats:
        """(N,) nats above chance of each episode."""
        nats: Floats = self.behaviour.table([1.0], weights @ self.features, fast=True)[0]
        return nats

    def fit(self, chosen: Floats, start: Floats) -> Floats:
        """(K,) the weights that predict the episodes best, counted `chosen` (N,) times each, given the prior."""

        def loss(weights: Floats) -> tuple[float, Floats]:
            nats, slope = self._accuracy(weights, chosen)
            penalty = weights / self.spread**2
            return float(weights @ penalty) / 2 - nats, penalty - slope

        found: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options={"ftol": PRECISION}).x
        return found

    def cross_fitted(self, groups: NDArray[np.intp], start: Floats, folds: int, rng: np.random.Generator) -> Floats:
        """(N,) nats of each episode by weights fitted without its fold; folds are made of whole groups (N,)."""
        fold = rng.permutation(groups.max() + 1)[groups] % folds
        nats = np.zeros(len(groups))
        for each in range(min(folds, int(groups.max()) + 1)):
            held_out = fold == each
            nats[held_out] = self.scores(self.fit((~held_out).astype(np.float64), start))[held_out]
        return nats

    def _accuracy(self, weights: Floats, chosen: Floats) -> tuple[float, Floats]:
        """Summed nats and their gradient (K,)."""
        nats, slope = self.behaviour.accuracy(weights @ self.features, chosen)
        return nats, self.features @ slope


def held_out(
    episodes: Sequence[Episode], features: tuple[str, ...], rng: np.random.Generator, spread: float = PRIOR_SPREAD
) -> Floats:
    """(N,) nats above chance of each episode by weights fitted to other clusters; the same `rng`, the same folds."""
    if not features:
        return np.zeros(len(episodes))
    utilities, sample = Linear(features), Sample.of(episodes)
    behaviour = Behaviour.of(sample, utilities)
    fit = LinearFit(behaviour, utilities.values(behaviour.scene.mdp), spread)
    start = fit.fit(np.ones(len(sample)), np.zeros(len(features)))
    return fit.cross_fitted(sample.clusters, start, FOLDS, rng)
