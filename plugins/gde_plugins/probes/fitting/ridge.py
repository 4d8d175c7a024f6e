"""Ridge regression on every cell's class: what stands linearly in the activations, read out to the end.

Gradient descent that is stopped after some epochs finds what is large in the activations before what is small. This
read-out has no such preference but its penalty, which is chosen by predicting training worlds left out:

    scores(h, cell) = z(h) @ W[cell] + b[cell],   W minimising |onehot - scores|^2 + penalty * |W|^2

No fit is repeated for that: the residuals of a world's turns when it is left out are (I - H)^-1 times those of the
whole fit, H being their block of the matrix that maps targets to fitted values. Scores become probabilities by
softmax(scores / temperature), with the temperature of least log loss on left-out worlds.

A class that is in one cell of every turn, as an agent is, has a penalty of its own: the one under which its cell is
named best. The squared error of a single cell hardly falls when it is found, and that of all classes is dominated by
the walls. A large penalty makes the scores of such a class small beside those of other classes, so they are multiplied
by the slope of the targets on left-out predictions, where that is above 1.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.linalg import svd
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from gde_plugins.probes.arrays import Bools, Codes, Doubles, Floats, Indices, Worlds
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.fitting.weights import z_scores

TEMPERATURES = (1e-2, 1e1)
"""Bounds of the temperature; one-hot targets differ by 1."""


@one_thread()
def fit_ridge(inputs: Floats, codes: Codes, n_classes: int, worlds: Worlds, penalties: Sequence[float]) -> PlaceWeights:
    """Fit the read-out to activations as captured.

    Args:
        inputs: (N, D).
        codes: (N, cells) class indices.
        n_classes: C.
        worlds: (N,) of which one at a time is left out.
        penalties: on the squared weights of z-scored activations, against squared errors summed over turns. Of those
            that predict left-out worlds equally well the largest is taken.

    Raises:
        ValueError: fewer than two worlds.
    """
    rows = rows_of_worlds(worlds)
    mean, scale = z_scores(inputs)
    # Subtracted and divided in float32, as when the read-out is used.
    scored = ((inputs - mean) / scale).astype(np.float64)
    targets = np.eye(n_classes)[codes]
    fits = RidgeFits(scored, targets)

    # argmin takes the first of equal losses, hence the largest penalty.
    descending = sorted(penalties, reverse=True)
    losses = [_losses(fits.left_out(penalty, rows), codes) for penalty in descending]
    chosen = [descending[i] for i in np.argmin(losses, axis=0)]

    left_out = _by_class(lambda penalty: fits.left_out(penalty, rows), chosen)
    factors = _factors(left_out - fits.level, targets - fits.level, _alone(codes, n_classes))
    temperature, _ = _calibrated(fits.level + factors * (left_out - fits.level), codes)

    by_place = factors * _by_class(fits.weights, chosen)
    bias = fits.level - np.tensordot(scored.mean(axis=0), by_place, axes=1)
    return PlaceWeights(
        places="cellwise",
        n_classes=n_classes,
        mean=mean,
        scale=scale,
        by_place=(by_place / temperature).astype(np.float32).reshape(len(mean), -1),
        bias=(bias / temperature).astype(np.float32).ravel(),
    )


def rows_of_worlds(worlds: Worlds) -> list[Indices]:
    """The rows of each of the worlds (N,), which are left out together: turns of one world are not independent.

    Raises:
        ValueError: fewer than two worlds.
    """
    of_world = np.unique(worlds, return_inverse=True)[1]
    n_worlds = int(of_world.max()) + 1
    if n_worlds < 2:
        raise ValueError("ridge chooses its penalty by predicting left-out worlds: wanted 2 to train on, got 1")
    return [np.flatnonzero(of_world == world) for world in range(n_worlds)]


class RidgeFits:
    """Ridge regressions of targets (N, ...) on inputs (N, D), with an intercept, at any penalty."""

    def __init__(self, inputs: Doubles, targets: Doubles) -> None:
        self.level: Doubles = targets.mean(axis=0)
        self._targets = (targets - self.level).reshape(len(targets), -1)
        centred = inputs - inputs.mean(axis=0)
        self._turns, self._lengths, self._axes = svd(centred, full_matrices=False, check_finite=False)
        self._along = self._turns.T @ self._targets  # exactly 0 of targets that are the same in every turn

    def weights(self, penalty: float) -> Doubles:
        """(D, ...) weights of a fit that is `level` where the inputs have their mean."""
        shrunk = self._lengths / (self._lengths**2 + penalty)
        weights = self._axes.T @ (shrunk[:, None] * self._along)
        return np.asarray(weights.reshape(-1, *self.level.shape))

    def left_out(self, penalty: float, groups: Sequence[Indices]) -> Doubles:
        """(N, ...) predictions of each group of rows by the fit to all others."""
        kept = self._lengths**2 / (self._lengths**2 + penalty)
        residuals = self._targets - (self._turns * kept) @ self._along
        predicted = np.empty_like(residuals)
        for rows in groups:
            turns = self._turns[rows]
            fitted_by = (turns * kept) @ turns.T + 1 / len(residuals)
            residual = np.linalg.solve(np.eye(len(rows)) - fitted_by, residuals[rows])
            predicted[rows] = self._targets[rows] - residual
        return np.asarray(predicted.reshape(-1, *self.level.shape) + self.level)


def _losses(scores: Doubles, codes: Codes) -> Doubles:
    """(C,) losses of scores (N, cells, C).

    For a class that is in one cell of every turn, the log loss of naming that cell; for the others, their common
    squared error.
    """
    n_classes = scores.shape[-1]
    of_class = np.eye(n_classes, dtype=bool)[codes]
    alone = _alone(codes, n_classes)
    squared_error = ((scores - of_class)[..., ~alone] ** 2).mean()
    losses = np.full(n_classes, squared_error)
    for code in np.flatnonzero(alone):
        cells = of_class[..., code].argmax(axis=1)
        _, losses[code] = _calibrated(scores[..., code], cells)
    return losses


def _alone(codes: Codes, n_classes: int) -> Bools:
    """(C,) whether a class is in one cell of every turn."""
    return np.array([((codes == code).sum(axis=1) == 1).all() for code in range(n_classes)])


def _factors(scores: Doubles, targets: Doubles, alone: Bools) -> Doubles:
    """(C,) factors of centred scores (N, cells, C).

    For a class that is alone, the slope of centred targets on them, which undoes what the penalty has shrunk, but at
    least 1; for the others 1.
    """
    along = (scores * targets).sum(axis=(0, 1))
    squares = (scores**2).sum(axis=(0, 1))
    shrunk = alone & (along > squares)
    return np.asarray(np.divide(along, squares, out=np.ones_like(along), where=shrunk))


def _by_class(fit: Callable[[float], Doubles], penalties: Sequence[float]) -> Doubles:
    """(..., C), each class from the fit at its own of C penalties."""
    fits = {penalty: fit(penalty) for penalty in set(penalties)}
    return np.stack([fits[penalty][..., code] for code, penalty in enumerate(penalties)], axis=-1)


def _calibrated(scores: Doubles, codes: Codes) -> tuple[float, float]:
    """The temperature of least log loss of softmax(scores / temperature), of scores (..., K), and that loss."""
    true = np.take_along_axis(scores, codes[..., None], axis=-1)[..., 0]

    def loss(exponent: float) -> float:
        temperature = np.exp(exponent)
        log_losses = logsumexp(scores / temperature, axis=-1) - true / temperature
        return float(log_losses.mean())

    found = minimize_scalar(loss, bounds=np.log(TEMPERATURES), method="bounded")
    return float(np.exp(found.x)), float(found.fun)
