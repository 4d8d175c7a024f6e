"""Linear read-outs of a map that distinguish cells by their places.

The paper's linear probe adds what it reads from the activations to what it reads from a
cell's coordinates: its logits are the same slope in every map, and cannot peak where
the agent is. Here the weights belong to places:

    cellwise:  logits(h, cell) = h @ W[cell] + b[cell]
    bilinear:  logits(h, cell) = h @ (R[row] + C[column]) + r[row] + c[column]

The first is a linear classifier of its own for every cell; the second, which has far
fewer weights, reads rows and columns apart. Both are linear in the activations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.special import softmax

from gde_plugins.probes.arrays import Floats

Places = Literal["cellwise", "bilinear"]
ARRAYS = ("mean", "scale", "by_place", "bias")


@dataclass(frozen=True, kw_only=True, eq=False)
class PlaceWeights:
    """Parameters of either read-out; D activations, F places (cells, or rows and then
    columns), C classes.
    """

    places: Places
    n_classes: int
    mean: Floats
    """(D,) of the activations in training."""
    scale: Floats
    """(D,) standard deviations, 1 where an activation never varies."""
    by_place: Floats
    """(D, F * C)."""
    bias: Floats
    """(F * C,)."""

    def arrays(self) -> dict[str, Floats]:
        """All parameters by name, without `places` and `n_classes`."""
        return {name: getattr(self, name) for name in ARRAYS}

    @classmethod
    def from_arrays(
        cls, places: Places, n_classes: int, arrays: Mapping[str, Floats]
    ) -> Self:
        """The inverse of `arrays`; other names are ignored."""
        own = {name: arrays[name] for name in ARRAYS}
        return cls(places=places, n_classes=n_classes, **own)

    def probabilities(self, inputs: Floats, shape: tuple[int, ...]) -> Floats:
        """(N, *shape, C) softmax for every cell."""
        scored = (inputs - self.mean) / self.scale
        scores = scored @ self.by_place + self.bias
        by_place = scores.reshape(len(inputs), -1, self.n_classes)

        # A cell's logits are the sum of the scores of the places that it is at.
        logits = incidence(self.places, shape) @ by_place
        probabilities = np.asarray(softmax(logits, axis=-1), dtype=np.float32)
        return probabilities.reshape(len(inputs), *shape, -1)


def incidence(places: Places, shape: tuple[int, ...]) -> Floats:
    """(cells, F) 1 where a cell, in C order, is at a place."""
    n_cells = int(np.prod(shape))
    if places == "cellwise":
        return np.eye(n_cells, dtype=np.float32)

    # Rows first, then columns: one-hot vectors of each side of the map.
    indices = np.indices(shape).reshape(len(shape), n_cells)
    sides = zip(shape, indices, strict=True)
    one_hot = [np.eye(side, dtype=np.float32)[index] for side, index in sides]
    return np.concatenate(one_hot, axis=1)
