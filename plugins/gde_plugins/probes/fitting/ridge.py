"""Ridge regression of every cell's class on the activations, in closed form.

Gradient descent that stops after some epochs finds large directions of the activations
before small ones. Ridge regression has no such preference beyond its penalty, which is
chosen by predicting left-out training worlds:

    scores(h, cell) = z(h) @ W[cell] + b[cell],   W minimising |onehot - scores|^2 +
    penalty * |W|^2

Leaving a world out needs no new fit. The residuals of its turns are then (I - H)^-1
times those of the whole fit, where H is their block of the matrix that maps targets to
fitted values. Scores become probabilities by softmax(scores / temperature), with the
temperature of least log loss on left-out worlds.

A class that is in one cell of every turn, such as the agent, has a penalty of its own:
the one that names its cell best. The squared error would not do, because it hardly
falls when a single cell is found, and walls dominate the sum over classes. A large
penalty makes the scores of such a class small beside those of other classes. They are
therefore multiplied by the slope of the targets on left-out predictions, where that is
above 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import svd
from scipy.optimize import minimize_scalar

from gde_plugins.probes.arrays import Bools, Codes, Doubles, Floats, Indices, Worlds
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.places import PlaceWeights
from gde_plugins.probes.fitting.weights import CellWeights, z_scored

TEMPERATURES = (1e-2, 1e1)
"""Bounds of the temperature; one-hot targets differ by 1."""
WITHIN = {"xatol": 0.01}
"""How closely a temperature is found: to one per cent, which a loss does not notice."""


@one_thread()
def fit_ridge(
    inputs: Floats,
    codes: Codes,
    n_classes: int,
    worlds: Worlds,
    penalties: Sequence[float],
) -> PlaceWeights:
    """Fit the read-out to activations as captured.

    Args:
        inputs: (N, D).
        codes: (N, cells) class indices.
        n_classes: C.
        worlds: (N,) of which one at a time is left out.
        penalties: on the squared weights of z-scored activations, against squared
            errors summed over turns. Of those that predict left-out worlds equally well
            the largest is taken.

    Raises:
        ValueError: fewer than two worlds.
    """
    rows = rows_of_worlds(worlds)
    mean, scale, scored = z_scored(inputs)
    targets = np.eye(n_classes)[codes]
    fits = RidgeFits(Components.of(scored), targets)

    # argmin takes the first of equal losses, hence the largest penalty.
    descending = sorted(penalties, reverse=True)
    losses = []
    for penalty in descending:
        predicted = fits.left_out(penalty, rows)
        losses.append(_losses(predicted, codes))
    chosen = [descending[i] for i in np.argmin(losses, axis=0)]

    # Factors and temperature are fitted on left-out predictions too, for the fit itself
    # is surer than it should be.
    left_out = _by_class(lambda penalty: fits.left_out(penalty, rows), chosen)
    deviations = left_out - fits.level
    alone = _alone(codes, n_classes)
    factors = _factors(deviations, targets - fits.level, alone)
    temperature, _ = calibrated(fits.level + factors * deviations, codes)

    # z(h) @ W + b = level + (z(h) - mean of z) @ W, so the bias takes the mean's share
    # away.
    by_place = factors * _by_class(fits.weights, chosen)
    at_mean = np.tensordot(scored.mean(axis=0), by_place, axes=1)
    bias = fits.level - at_mean

    warm_weights = (by_place / temperature).astype(np.float32)
    warm_bias = (bias / temperature).astype(np.float32)
    return PlaceWeights(
        places="cellwise",
        n_classes=n_classes,
        mean=mean,
        scale=scale,
        by_place=warm_weights.reshape(len(mean), -1),
        bias=warm_bias.ravel(),
    )


@one_thread()
def fit_linear(
    inputs: Floats, targets: Doubles, worlds: Worlds, penalties: Sequence[float]
) -> CellWeights:
    """Ridge regression of targets (N, K) on activations as captured.

    Of the penalties, as of `fit_ridge`, the one of least squared error in left-out
    worlds is taken.

    Raises:
        ValueError: fewer than two worlds.
    """
    rows = rows_of_worlds(worlds)
    mean, scale, scored = z_scored(inputs)
    fits = RidgeFits(Components.of(scored), targets)

    def error(penalty: float) -> float:
        misses = fits.left_out(penalty, rows) - targets
        return float((misses**2).mean())

    # `min` takes the first of equal errors, hence the largest penalty.
    penalty = min(sorted(penalties, reverse=True), key=error)
    weights = fits.weights(penalty)
    bias = fits.level - scored.mean(axis=0) @ weights
    return CellWeights(
        mean=mean,
        scale=scale,
        activation=weights.astype(np.float32),
        coordinate=np.zeros((0, targets.shape[1]), dtype=np.float32),
        bias=bias.astype(np.float32),
    )


def rows_of_worlds(worlds: Worlds) -> list[Indices]:
    """Return the rows of each of the worlds (N,), which are left out together.

    Raises:
        ValueError: fewer than two worlds.
    """
    _, of_world = np.unique(worlds, return_inverse=True)
    n_worlds = int(of_world.max()) + 1
    if n_worlds < 2:
        raise ValueError(
            "ridge chooses its penalty by predicting left-out worlds: wanted 2 to train on, got 1"
        )
    return [np.flatnonzero(of_world == world) for world in range(n_worlds)]


@dataclass(frozen=True, eq=False)
class Components:
    """Inputs (N, D) by their singular values, which a penalty only rescales."""

    turns: Doubles
    """(N, R)."""
    lengths: Doubles
    """(R,)."""
    axes: Doubles
    """(R, D)."""

    @classmethod
    def of(cls, inputs: Doubles) -> Self:
        """Decompose the inputs less their mean."""
        centred = inputs - inputs.mean(axis=0)
        return cls(*svd(centred, full_matrices=False, check_finite=False))


class RidgeFits:
    """Ridge regressions of targets (N, ...) with an intercept, at any penalty."""

    def __init__(self, inputs: Components, targets: Doubles) -> None:
        self.level: Doubles = targets.mean(axis=0)
        deviations = targets - self.level
        n_targets = int(np.prod(self.level.shape))
        self._targets = deviations.reshape(len(targets), n_targets)

        self._turns, self._lengths = inputs.turns, inputs.lengths
        self._axes = inputs.axes
        # Exactly 0 for targets that are the same in every turn.
        self._along = self._turns.T @ self._targets

    @property
    def mean_square(self) -> float:
        """Of the singular values, by which penalties may be measured; 1 for inputs that
        never vary.
        """
        return float((self._lengths**2).mean()) or 1.0

    def weights(self, penalty: float) -> Doubles:
        """(D, ...) weights of a fit that is `level` where the inputs have their
        mean.
        """
        penalised = self._lengths**2 + penalty
        shrunk = self._lengths / penalised
        weights = self._axes.T @ (shrunk[:, None] * self._along)
        return np.asarray(weights.reshape(len(weights), *self.level.shape))

    def left_out(self, penalty: float, groups: Sequence[Indices]) -> Doubles:
        """(N, ...) predictions of each group of rows by the fit to all others."""
        squares = self._lengths**2
        kept = squares / (squares + penalty)
        fitted = (self._turns * kept) @ self._along
        residuals = self._targets - fitted
        n_turns = len(residuals)

        # A row's element of the hat matrix H, to which the intercept adds 1 / N.
        own = (self._turns**2 @ kept + 1 / n_turns)[:, None]
        predicted = self._targets - residuals / (1 - own)
        for rows in groups:
            if len(rows) > 1:
                turns = self._turns[rows]
                hat = (turns * kept) @ turns.T + 1 / n_turns
                identity = np.eye(len(rows))
                residual = np.linalg.solve(identity - hat, residuals[rows])
                predicted[rows] = self._targets[rows] - residual

        shaped = predicted.reshape(n_turns, *self.level.shape)
        return np.asarray(shaped + self.level)


def _losses(scores: Doubles, codes: Codes) -> Doubles:
    """(C,) losses of scores (N, cells, C).

    For a class that is in one cell of every turn, the log loss of naming that cell; for
    the others, their common squared error.
    """
    n_classes = scores.shape[-1]
    of_class = np.eye(n_classes, dtype=bool)[codes]
    alone = _alone(codes, n_classes)

    errors = (scores - of_class)[..., ~alone]
    squared_error = (errors**2).mean()
    losses = np.full(n_classes, squared_error)

    for code in np.flatnonzero(alone):
        cells = of_class[..., code].argmax(axis=1)
        _, losses[code] = calibrated(scores[..., code], cells)
    return losses


def _alone(codes: Codes, n_classes: int) -> Bools:
    """(C,) whether a class is in one cell of every turn."""
    alone = []
    for code in range(n_classes):
        n_cells = (codes == code).sum(axis=1)
        alone.append((n_cells == 1).all())
    return np.array(alone)


def _factors(scores: Doubles, targets: Doubles, alone: Bools) -> Doubles:
    """(C,) factors of centred scores (N, cells, C).

    For a class that is alone, the slope of centred targets on them, which undoes what
    the penalty has shrunk, but at least 1; for the others 1.
    """
    along = (scores * targets).sum(axis=(0, 1))
    squares = (scores**2).sum(axis=(0, 1))
    shrunk = alone & (along > squares)
    # `where` divides the shrunk classes alone. The others keep the 1 of `out`.
    factors = np.divide(along, squares, out=np.ones_like(along), where=shrunk)
    return np.asarray(factors)


def _by_class(fit: Callable[[float], Doubles], penalties: Sequence[float]) -> Doubles:
    """(..., C), each class from the fit at its own of C penalties."""
    fits = {penalty: fit(penalty) for penalty in set(penalties)}
    of_classes = []
    for code, penalty in enumerate(penalties):
        of_classes.append(fits[penalty][..., code])
    return np.stack(of_classes, axis=-1)


def calibrated(scores: Doubles, codes: Codes) -> tuple[float, float]:
    """Return the temperature of least log loss, and that loss.

    The loss is of softmax(scores / temperature), of scores (..., K).
    """
    true = np.take_along_axis(scores, codes[..., None], axis=-1)[..., 0]
    # Alternatives first: NumPy adds along a short last axis slowly.
    first = np.ascontiguousarray(np.moveaxis(scores, -1, 0))
    # Below the largest score, so that none overflows.
    highest = first.max(axis=0)
    below = first - highest
    short = float((highest - true).mean())

    def loss(exponent: float) -> float:
        temperature = np.exp(exponent)
        totals = np.log(np.exp(below / temperature).sum(axis=0))
        return float(totals.mean() + short / temperature)

    # Searched by its logarithm: temperatures differ by factors, not by differences.
    bounds = np.log(TEMPERATURES)
    found = minimize_scalar(loss, bounds=bounds, method="bounded", options=WITHIN)
    temperature = float(np.exp(found.x))
    return temperature, float(found.fun)
