"""The design matrix: activations as probes learn from them, z-scored and with principal axes evened out."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from threading import local
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gde_plugins.probes.fitting.eigen import eigh
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.weights import z_scores

Axes = tuple[NDArray[np.float32], ...]
"""Matrices whose product is (D, rank): weights are multiplied by one after the other in less time than it takes to make
the product."""
LEAST_VARIANCE = 1e-6
"""Relative to the axis with the most: what is below is rounding."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """What N turns of D activations are for training, in which nothing of their labels is seen."""

    mean: NDArray[np.float32]
    """(D,)"""
    scale: NDArray[np.float32]
    """(D,) standard deviations, 1 where an activation never varies."""
    axes: Axes
    """As `whitened` gives them; none for z-scores alone."""
    inputs: NDArray[np.float32]
    """(N, rank), or (N, D) z-scores."""

    @classmethod
    def of(cls, captured: NDArray[Any], whiten: bool) -> Self:
        """Made of activations (N, D) as captured: the same numbers however many threads the machine has."""
        mean, scale = z_scores(captured)
        scored = ((captured - mean) / scale).astype(np.float32)
        with one_thread():
            inputs, axes = whitened(scored) if whiten else (scored, ())
        for array in (mean, scale, inputs, *axes):
            array.flags.writeable = False  # several fits may hold it
        return cls(mean=mean, scale=scale, axes=axes, inputs=inputs)

    def on_scores(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """(D, K) weights of z-scores that are those (rank, K) of `inputs`."""
        for factor in reversed(self.axes):
            weights = factor @ weights
        return weights


Prepare = Callable[[NDArray[Any], bool], Design]
"""`Design.of`, or what gives the same in less time."""


class LatestDesign(local):
    """`Design.of` that gives the design that the same thread made last again for the same activations.

    The variants of a probe, and the control with exchanged labels, read the same activations one after the other, and
    to whiten them takes as long as a linear probe takes to learn. One design is held for each thread that fits; it is
    let go before the next is made, or with its thread.
    """

    def __init__(self) -> None:
        """Hold none."""
        self._made_of = b""
        self._design: Design | None = None

    def __call__(self, captured: NDArray[Any], whiten: bool) -> Design:
        """The design of activations (N, D) as captured."""
        made_of = _fingerprint(captured, whiten)
        if self._design is None or made_of != self._made_of:
            self._design = None
            self._design = Design.of(captured, whiten)
            self._made_of = made_of
        return self._design


def _fingerprint(captured: NDArray[Any], whiten: bool) -> bytes:
    """Equal where type, shape and every bit are, so that the activations themselves need not be held to compare."""
    told = sha256(repr((whiten, captured.dtype.str, captured.shape)).encode())
    told.update(np.ascontiguousarray(captured).data)
    return told.digest()


def whitened(scored: NDArray[np.float32]) -> tuple[NDArray[np.float32], Axes]:
    """(N, rank) z-scored inputs (N, D) along principal axes, each divided by sqrt(its variance + 1); and these axes.

    In a residual stream a few axes (the size of the grid, the place in the text) hold nearly all variance, and
    gradient descent would reach the others last. The 1, the mean variance, keeps axes of mere noise small.

    They are told from the products of turns, or of inputs where there are fewer: a fifth of the time of a singular
    value decomposition, and as exact where it matters, for what is lost are axes of next to no variance. The
    eigenvectors of the products of turns are the inputs along the axes already, but for their lengths.
    """
    n, width = scored.shape
    products = scored @ scored.T if n < width else scored.T @ scored
    squared, vectors = eigh(products)
    kept = squared > LEAST_VARIANCE * squared[-1]
    kept[-1] = True  # of inputs that never vary too there is one axis, of nothing
    squared, vectors = np.maximum(squared[kept][::-1], np.finfo(np.float32).tiny), vectors[:, kept][:, ::-1]
    shrunk = np.sqrt(squared / n + 1)
    if n >= width:
        axes = np.asarray(vectors / shrunk, dtype=np.float32)
        return scored @ axes, (axes,)
    lengths = np.sqrt(squared)
    # Turn by turn in memory, as training takes them.
    inputs = np.ascontiguousarray(vectors * (lengths / shrunk), dtype=np.float32)
    return inputs, (scored.T, np.asarray(vectors / (lengths * shrunk), dtype=np.float32))
