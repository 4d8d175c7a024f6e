"""Ridge regression of rows and columns on the activations, in closed form.

A coordinate is a class of its own for each row or column. Each coordinate has the
penalty that names it best in left-out worlds, by the log loss of softmax(scores /
temperature) at the best temperature.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from gde_plugins.probes.arrays import Codes, Doubles, Floats, Worlds
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.ridge import RidgeFits, calibrated, rows_of_worlds
from gde_plugins.probes.fitting.weights import z_scores


@dataclass(frozen=True, kw_only=True, eq=False)
class CoordinateWeights:
    """A linear classifier of each of K coordinates in 0 to size - 1."""

    mean: Floats
    """(D,) of the activations in training."""
    scale: Floats
    """(D,) standard deviations, 1 where an activation never varies."""
    weights: Floats
    """(D, K, size)."""
    bias: Floats
    """(K, size)."""

    @one_thread()
    def probabilities(self, inputs: Floats) -> Floats:
        """(N, K, size) of activations (N, D) as captured."""
        scored = (inputs - self.mean) / self.scale
        scores = np.tensordot(scored, self.weights, axes=1) + self.bias
        return np.asarray(softmax(scores, axis=-1), dtype=np.float32)


@one_thread()
def fit_coordinates(
    inputs: Floats,
    coordinates: Codes,
    size: int,
    worlds: Worlds,
    penalties: Sequence[float],
) -> CoordinateWeights:
    """Fit a classifier of every coordinate.

    Args:
        inputs: (N, D) activations as captured. coordinates: (N, K). worlds: (N,) of
        which one at a time is left out. penalties: on the squared weights of z-scored
            activations. Of those that are equally good the largest is taken.

    Raises:
        ValueError: fewer than two worlds.
    """
    rows = rows_of_worlds(worlds)
    mean, scale = z_scores(inputs)
    scored = ((inputs - mean) / scale).astype(np.float64)
    fits = RidgeFits(scored, np.eye(size)[coordinates])

    n_coordinates = coordinates.shape[1]
    least = np.full(n_coordinates, np.inf)
    temperatures = np.ones(n_coordinates)
    chosen = np.zeros(n_coordinates)
    for penalty in sorted(penalties, reverse=True):
        left_out = fits.left_out(penalty, rows)
        for k in range(n_coordinates):
            temperature, loss = calibrated(left_out[:, k], coordinates[:, k])
            if loss < least[k]:
                least[k], temperatures[k], chosen[k] = loss, temperature, penalty

    weights = np.empty((scored.shape[1], n_coordinates, size))
    for penalty in np.unique(chosen):
        of_penalty = chosen == penalty
        weights[:, of_penalty] = fits.weights(float(penalty))[:, of_penalty]
    bias: Doubles = fits.level - np.tensordot(scored.mean(axis=0), weights, axes=1)
    return CoordinateWeights(
        mean=mean,
        scale=scale,
        weights=(weights / temperatures[:, None]).astype(np.float32),
        bias=(bias / temperatures[:, None]).astype(np.float32),
    )
