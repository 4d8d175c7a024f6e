"""Ridge regression on every cell's class: what stands linearly in the activations, read out to the end.

Gradient descent that is stopped after some epochs finds what is large in the activations before what is small. This
read-out has no such preference but its penalty, and that is chosen by predicting training worlds left out:

    scores(h, cell) = z(h) @ W[cell] + b[cell],   W minimising |onehot - scores|^2 + penalty * |W|^2

No fit is repeated for that: the residuals of a world's turns when it is left out are (I - H)^-1 times those of the
whole fit, H being their block of the matrix that maps targets to fitted values. Scores become probabilities by
softmax(scores / temperature), with the temperature of least log loss on left-out worlds.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from gde_plugins.probes.one_thread import one_thread
from gde_plugins.probes.places import PlaceWeights
from gde_plugins.probes.weights import z_scores

Floats = NDArray[np.float64]
TEMPERATURES = (1e-2, 1e1)
"""Between which the temperature is sought; one-hot targets differ by 1."""


@one_thread()
def fit_ridge(
    inputs: NDArray[np.float32],
    codes: NDArray[np.int64],
    n_classes: int,
    worlds: NDArray[np.str_],
    penalties: Sequence[float],
) -> PlaceWeights:
    """The read-out fitted to activations as captured.

    Args:
        inputs: (N, D).
        codes: (N, cells) class indices.
        n_classes: C.
        worlds: (N,) of which one at a time is left out.
        penalties: on the squared weights of z-scored activations, against squared errors summed over turns; of those
            that predict left-out worlds equally well the largest is taken.

    Raises:
        ValueError: fewer than two worlds.
    """
    of_world = np.unique(worlds, return_inverse=True)[1]
    if of_world.max() < 1:
        raise ValueError("ridge chooses its penalty by predicting left-out worlds: wanted 2 to train on, got 1")
    mean, scale = z_scores(inputs)
    scored = ((inputs - mean) / scale).astype(np.float64)  # rounded as it will be when the read-out is used
    targets = np.eye(n_classes)[codes].reshape(len(codes), -1)
    fit = _Fits(scored, targets)
    rows = [np.flatnonzero(of_world == world) for world in range(of_world.max() + 1)]
    descending = sorted(penalties, reverse=True)
    errors = [float(((fit.left_out(penalty, rows) - targets) ** 2).mean()) for penalty in descending]
    penalty = descending[int(np.argmin(errors))]
    temperature = _temperature(fit.left_out(penalty, rows).reshape(*codes.shape, n_classes), codes)
    by_place, bias = fit.weights(penalty)
    return PlaceWeights(
        places="cellwise",
        n_classes=n_classes,
        mean=mean,
        scale=scale,
        by_place=(by_place / temperature).astype(np.float32),
        bias=(bias / temperature).astype(np.float32),
    )


class _Fits:
    """Ridge regressions of targets (N, K) on inputs (N, D), with an intercept, at any penalty."""

    def __init__(self, inputs: Floats, targets: Floats) -> None:
        self._at, self._level = inputs.mean(axis=0), targets.mean(axis=0)
        self._targets = targets - self._level
        self._turns, self._lengths, self._axes = svd(inputs - self._at, full_matrices=False, check_finite=False)
        self._along = self._turns.T @ self._targets  # exactly 0 of targets that are the same in every turn

    def weights(self, penalty: float) -> tuple[Floats, Floats]:
        """(D, K) weights and (K,) intercepts."""
        weights = self._axes.T @ ((self._lengths / (self._lengths**2 + penalty))[:, None] * self._along)
        return weights, self._level - self._at @ weights

    def left_out(self, penalty: float, groups: Sequence[NDArray[np.intp]]) -> Floats:
        """(N, K) predictions for each group of rows by the fit to all others."""
        kept = self._lengths**2 / (self._lengths**2 + penalty)
        residuals = self._targets - (self._turns * kept) @ self._along
        predicted = np.empty_like(residuals)
        for rows in groups:
            fitted_by = (self._turns[rows] * kept) @ self._turns[rows].T + 1 / len(residuals)
            residual = np.linalg.solve(np.eye(len(rows)) - fitted_by, residuals[rows])
            predicted[rows] = self._targets[rows] - residual
        return np.asarray(predicted + self._level)


def _temperature(scores: Floats, codes: NDArray[np.int64]) -> float:
    """That of least log loss of softmax(scores / temperature), of scores (N, cells, C)."""
    true = np.take_along_axis(scores, codes[..., None], axis=-1)[..., 0]

    def loss(exponent: float) -> float:
        temperature = np.exp(exponent)
        return float((logsumexp(scores / temperature, axis=-1) - true / temperature).mean())

    return float(np.exp(minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded").x))
