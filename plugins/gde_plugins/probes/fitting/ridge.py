"""Ridge regression on every cell's class: what stands linearly in the activations, read out to the end.

Gradient descent that is stopped after some epochs finds what is large in the activations before what is small. This
read-out has no such preference but its penalty, and that is chosen by predicting training worlds left out:

    scores(h, cell) = z(h) @ W[cell] + b[cell],   W minimising |onehot - scores|^2 + penalty * |W|^2

No fit is repeated for that: the residuals of a world's turns when it is left out are (I - H)^-1 times those of the
whole fit, H being their block of the matrix that maps targets to fitted values. Scores become probabilities by
softmax(scores / temperature), with the temperature of least log loss on left-out worlds.

A class that is in one cell of every turn, as an agent is, has a penalty of its own: that under which its cell is named
best. The squared error of a single cell hardly falls when it is found, and that of all classes is one of the walls.
A large penalty makes its scores small beside those of other classes, so that they are multiplied by the slope of the
targets on left-out predictions, where that is above 1.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.fitting.weights import z_scores

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
    rows = rows_of_worlds(worlds)
    mean, scale = z_scores(inputs)
    scored = ((inputs - mean) / scale).astype(np.float64)  # rounded as it will be when the read-out is used
    fit = RidgeFits(scored, np.eye(n_classes)[codes])
    descending = sorted(penalties, reverse=True)
    losses = [_losses(fit.left_out(penalty, rows), codes) for penalty in descending]
    chosen = [descending[i] for i in np.argmin(losses, axis=0)]
    left_out = _by_class(lambda penalty: fit.left_out(penalty, rows), chosen)
    factors = _factors(left_out - fit.level, np.eye(n_classes)[codes] - fit.level, _alone(codes, n_classes))
    temperature, _ = _calibrated(fit.level + factors * (left_out - fit.level), codes)
    by_place = factors * _by_class(fit.weights, chosen)
    bias = fit.level - np.tensordot(scored.mean(axis=0), by_place, axes=1)
    return PlaceWeights(
        places="cellwise",
        n_classes=n_classes,
        mean=mean,
        scale=scale,
        by_place=(by_place / temperature).astype(np.float32).reshape(len(mean), -1),
        bias=(bias / temperature).astype(np.float32).ravel(),
    )


def rows_of_worlds(worlds: NDArray[np.str_]) -> list[NDArray[np.intp]]:
    """The rows of each of the worlds (N,), which are left out together: turns of one world are not independent.

    Raises:
        ValueError: fewer than two worlds.
    """
    of_world = np.unique(worlds, return_inverse=True)[1]
    if of_world.max() < 1:
        raise ValueError("ridge chooses its penalty by predicting left-out worlds: wanted 2 to train on, got 1")
    return [np.flatnonzero(of_world == world) for world in range(of_world.max() + 1)]


class RidgeFits:
    """Ridge regressions of targets (N, ...) on inputs (N, D), with an intercept, at any penalty."""

    def __init__(self, inputs: Floats, targets: Floats) -> None:
        self.level: Floats = targets.mean(axis=0)
        self._targets = (targets - self.level).reshape(len(targets), -1)
        self._turns, self._lengths, self._axes = svd(
            inputs - inputs.mean(axis=0), full_matrices=False, check_finite=False
        )
        self._along = self._turns.T @ self._targets  # exactly 0 of targets that are the same in every turn

    def weights(self, penalty: float) -> Floats:
        """(D, ...), of a fit that is `level` where the inputs have their mean."""
        weights = self._axes.T @ ((self._lengths / (self._lengths**2 + penalty))[:, None] * self._along)
        return np.asarray(weights.reshape(-1, *self.level.shape))

    def left_out(self, penalty: float, groups: Sequence[NDArray[np.intp]]) -> Floats:
        """(N, ...) predictions for each group of rows by the fit to all others."""
        kept = self._lengths**2 / (self._lengths**2 + penalty)
        residuals = self._targets - (self._turns * kept) @ self._along
        predicted = np.empty_like(residuals)
        for rows in groups:
            fitted_by = (self._turns[rows] * kept) @ self._turns[rows].T + 1 / len(residuals)
            residual = np.linalg.solve(np.eye(len(rows)) - fitted_by, residuals[rows])
            predicted[rows] = self._targets[rows] - residual
        return np.asarray(predicted.reshape(-1, *self.level.shape) + self.level)


def _losses(scores: Floats, codes: NDArray[np.int64]) -> Floats:
    """(C,) of scores (N, cells, C): what it costs to name the cell of a class that is in one, and the squared error of
    all others together."""
    of_class = np.eye(scores.shape[-1], dtype=bool)[codes]
    alone = _alone(codes, scores.shape[-1])
    losses = np.full(len(alone), ((scores - of_class)[..., ~alone] ** 2).mean())
    for each in np.flatnonzero(alone):
        _, losses[each] = _calibrated(scores[..., each], of_class[..., each].argmax(axis=1))
    return losses


def _alone(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.bool_]:
    """(C,) whether a class is in one cell of every turn."""
    return np.array([((codes == each).sum(axis=1) == 1).all() for each in range(n_classes)])


def _factors(scores: Floats, targets: Floats, alone: NDArray[np.bool_]) -> Floats:
    """(C,) by what centred scores (N, cells, C) are multiplied: for a class that is alone, the slope of centred targets
    on them, which undoes what the penalty has shrunk, but at least 1."""
    along, squares = (scores * targets).sum(axis=(0, 1)), (scores**2).sum(axis=(0, 1))
    return np.asarray(np.divide(along, squares, out=np.ones_like(along), where=alone & (along > squares)))


def _by_class(fit: Callable[[float], Floats], penalties: Sequence[float]) -> Floats:
    """(..., C), each class from the fit at its own of C penalties."""
    fits = {penalty: fit(penalty) for penalty in set(penalties)}
    return np.stack([fits[penalty][..., each] for each, penalty in enumerate(penalties)], axis=-1)


def _calibrated(scores: Floats, codes: NDArray[np.int64]) -> tuple[float, float]:
    """The temperature of least log loss of softmax(scores / temperature), of scores (..., K), and that loss."""
    true = np.take_along_axis(scores, codes[..., None], axis=-1)[..., 0]

    def loss(exponent: float) -> float:
        temperature = np.exp(exponent)
        return float((logsumexp(scores / temperature, axis=-1) - true / temperature).mean())

    found = minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded")
    return float(np.exp(found.x)), float(found.fun)
