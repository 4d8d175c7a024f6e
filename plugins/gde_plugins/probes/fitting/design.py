"""The design matrix: activations z-scored, and the variance of their principal axes
evened out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from threading import local
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gde_plugins.probes.arrays import Floats
from gde_plugins.probes.fitting.eigen import eigh
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.weights import z_scores

Axes = tuple[Floats, ...]
"""Matrices whose product is (D, rank). Multiplying weights by one after the other is
faster than forming it.
"""
LEAST_VARIANCE = 1e-6
"""Axes whose variance is below this share of the largest are rounding."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """The activations of N turns as a probe learns from them; labels have no part in
    it.
    """

    mean: Floats
    """(D,)"""
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
        scored = ((captured - mean) / scale).astype(np.float32)
        inputs = scored
        axes: Axes = ()
        if whiten:
            with one_thread():
                inputs, axes = whitened(scored)

        # Several fits may hold the same design, so none may write to it.
        for array in (mean, scale, inputs, *axes):
            array.flags.writeable = False
        return cls(mean=mean, scale=scale, axes=axes, inputs=inputs)

    def on_scores(self, weights: Floats) -> Floats:
        """Turn weights (rank, K) of `inputs` into the equal ones (D, K) of z-scores."""
        for factor in reversed(self.axes):
            weights = factor @ weights
        return weights


Prepare = Callable[[NDArray[Any], bool], Design]
"""`Design.of`, or a function that gives the same in less time."""


class LatestDesign(local):
    """`Design.of` with a memory of one design for each thread.

    The variants of a probe, and the control with shuffled labels, read the same
    activations one after the other, and whitening them takes as long as fitting a
    linear probe. A design is released before the next is made.
    """

    def __init__(self) -> None:
        """Hold none."""
        self._made_of = b""
        self._design: Design | None = None

    def __call__(self, captured: NDArray[Any], whiten: bool) -> Design:
        """The design of activations (N, D) as captured."""
        made_of = _fingerprint(captured, whiten)
        if self._design is None or made_of != self._made_of:
            # Released first, so that two designs are never held at once.
            self._design = None
            self._design = Design.of(captured, whiten)
            self._made_of = made_of
        return self._design


def _fingerprint(captured: NDArray[Any], whiten: bool) -> bytes:
    """A hash of type, shape and every bit: activations can be compared without holding
    them.
    """
    description = repr((whiten, captured.dtype.str, captured.shape))
    digest = sha256(description.encode())
    digest.update(np.ascontiguousarray(captured).data)
    return digest.digest()


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
    if by_turns:
        gram = scored @ scored.T
    else:
        gram = scored.T @ scored
    squared, vectors = eigh(gram)

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
