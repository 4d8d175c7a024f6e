"""The design matrix: activations, z-scored and whitened."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from gde_plugins.probes.arrays import Floats
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.weights import z_scores

Axes = tuple[Floats, ...]
"""Matrices whose product is (D, rank). Multiplying weights by one after the other is
faster than forming the product.
"""
LEAST_VARIANCE = 1e-6
"""Axes whose variance is below this share of the largest are rounding errors."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """The activations of N turns as inputs of a probe; labels play no part."""

    mean: Floats
    """(D,) means."""
    scale: Floats
    """(D,) standard deviations, 1 where an activation never varies."""
    axes: Axes
    """As of `whitened`; empty for z-scores alone."""
    inputs: Floats
    """(N, rank), or (N, D) z-scores."""

    @classmethod
    def of(cls, captured: NDArray[Any], whiten: bool) -> Self:
        """Prepare activations (N, D) as captured, on one thread so that the numbers are
        the same on any machine.
        """
        mean, scale = z_scores(captured)
        inputs = ((captured - mean) / scale).astype(np.float32)
        axes: Axes = ()
        if whiten:
            with one_thread():
                inputs, axes = whitened(inputs)
        return cls(mean=mean, scale=scale, axes=axes, inputs=inputs)

    def on_scores(self, weights: Floats) -> Floats:
        """Turn weights (rank, K) of `inputs` into the equal ones (D, K) of z-scores."""
        for factor in reversed(self.axes):
            weights = factor @ weights
        return weights


def whitened(scored: Floats) -> tuple[Floats, Axes]:
    """Rotate z-scored inputs (N, D) to their principal axes, each divided by sqrt(its
    variance + 1).

    In a residual stream a few axes (the size of the grid, the place in the text) hold
    nearly all variance, and gradient descent would reach the others last. The 1, the
    mean variance, keeps axes of mere noise small.

    Returns:
        The inputs (N, rank) along the axes, and these axes.
    """
    # The eigenvectors of the Gram matrix, (N, N) or (D, D), whichever is smaller, take
    # a fifth of the time of a singular value decomposition. The axes that are lost have
    # next to no variance.
    n_turns, width = scored.shape
    by_turns = n_turns < width
    gram = scored @ scored.T if by_turns else scored.T @ scored
    squared, vectors = eigh(gram, driver="evd")

    kept = squared > LEAST_VARIANCE * squared[-1]
    kept[-1] = True  # inputs that never vary have one axis, of length 0

    # Eigenvalues ascend; the axes are wanted by falling variance.
    squared = squared[kept][::-1]
    squared = np.maximum(squared, np.finfo(np.float32).tiny)
    vectors = vectors[:, kept][:, ::-1]
    shrunk = np.sqrt(squared / n_turns + 1)
    if not by_turns:
        axes = np.asarray(vectors / shrunk, dtype=np.float32)
        return scored @ axes, (axes,)

    # Eigenvectors of the products of turns are the inputs along the axes already, but
    # for their lengths. They are stored turn by turn, as training takes them.
    lengths = np.sqrt(squared)
    inputs = np.ascontiguousarray(vectors * (lengths / shrunk), dtype=np.float32)
    onto_axes = np.asarray(vectors / (lengths * shrunk), dtype=np.float32)
    return inputs, (scored.T, onto_axes)
