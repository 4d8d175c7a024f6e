"""The network of a probe, factored over cells: its parameters and outputs.

The input of a cell is [h; row; column], and h, the activations of a turn, is the same
for all cells of its grid. So the first layer falls apart into h @ activation, once a
turn, and [row; column] @ coordinate, once a grid:

    logits(h, cell) = relu(h @ activation + xy(cell) @ coordinate + bias) @ output.T +
    output_bias

which equals the ordinary network on materialised rows up to rounding, and never forms
those rows. Without an output layer it is the linear probe: no relu, and the sum itself
is the logits.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import prod, sqrt
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax

from gde_plugins.probes.arrays import Bools, Doubles, Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class CellWeights:
    """Parameters of the network; D activations, A coordinates of a cell, H hidden
    units, C outputs.
    """

    mean: Floats
    """(D,) of the activations in training."""
    scale: Floats
    """(D,) standard deviations, 1 where an activation never varies."""
    activation: Floats
    """(D, H), or (D, C) without an output layer."""
    coordinate: Floats
    """(A, H), or (A, C) without an output layer."""
    bias: Floats
    """(H,), or (C,) without an output layer."""
    output: Floats | None = None
    """(C, H); None for a linear probe."""
    output_bias: Floats | None = None
    """(C,); None for a linear probe."""

    @classmethod
    def initial(
        cls,
        n_inputs: int,
        n_coordinates: int,
        n_outputs: int,
        hidden: int,
        rng: np.random.Generator,
    ) -> Self:
        """Uniform weights within 1/sqrt(fan-in), for inputs that are normalised
        already.

        The two parts of the first layer are scaled each by its own fan-in: with a
        common one, two coordinates among thousands of activations would begin as good
        as unread.

        `hidden` is 0 for a linear probe.
        """

        def uniform(fan_in: int, *shape: int) -> Floats:
            bound = 1 / sqrt(max(fan_in, 1))
            return rng.uniform(-bound, bound, shape).astype(np.float32)

        # The order of the draws is part of every fitted probe.
        width = hidden or n_outputs
        activation = uniform(n_inputs, n_inputs, width)
        bias = uniform(n_inputs, width)
        output = None
        output_bias = None
        if hidden:
            output = uniform(hidden, n_outputs, hidden)
            output_bias = uniform(hidden, n_outputs)
        coordinate = uniform(n_coordinates, n_coordinates, width)

        return cls(
            mean=np.zeros(n_inputs, np.float32),
            scale=np.ones(n_inputs, np.float32),
            activation=activation,
            coordinate=coordinate,
            bias=bias,
            output=output,
            output_bias=output_bias,
        )

    def arrays(self) -> dict[str, Floats]:
        """All parameters by name; those of an absent output layer are left out."""
        return {name: array for name, array in vars(self).items() if array is not None}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """The inverse of `arrays`; other names are ignored."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: arrays[name] for name in names & arrays.keys()})

    def outputs(self, inputs: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """(N, cells, C) outputs for every cell from activations (N, D) as captured.

        They are of the activations' type. Torch computes the hidden units of one turn
        after the other in the same memory, in half the time that NumPy takes.
        """
        # The two shares of the first layer are computed apart: one per cell, one per
        # turn.
        coordinates = cell_coordinates(shape).astype(inputs.dtype)
        cells = coordinates @ self.coordinate + self.bias
        scored = (inputs - self.mean) / self.scale
        turns = scored @ self.activation
        if self.output is None or self.output_bias is None:
            return turns[:, None, :] + cells

        of_cells = torch.from_numpy(cells)
        of_turns = torch.from_numpy(turns)
        # Copied, because stored arrays may be read-only.
        weights = torch.tensor(self.output, dtype=of_cells.dtype)
        bias = torch.tensor(self.output_bias, dtype=of_cells.dtype)
        outputs = of_cells.new_empty(len(inputs), len(cells), len(bias))
        hidden = torch.empty_like(of_cells)
        for turn, of_turn in zip(outputs, of_turns, strict=True):
            torch.add(of_cells, of_turn, out=hidden).relu_()
            torch.addmm(bias, hidden, weights.t(), out=turn)
        return outputs.numpy()

    def probabilities(
        self, inputs: NDArray[Any], shape: tuple[int, ...]
    ) -> NDArray[Any]:
        """(N, *shape, C) softmax for every cell, of the activations' type."""
        probabilities = np.asarray(softmax(self.outputs(inputs, shape), axis=-1))
        n_classes = probabilities.shape[-1]
        return probabilities.reshape(len(inputs), *shape, n_classes)


def z_scores(inputs: NDArray[Any]) -> tuple[Floats, Floats]:
    """Mean and standard deviation (D,) of the columns; 1 instead of the standard
    deviation of a constant one.
    """
    mean = inputs.mean(axis=0, dtype=np.float64)
    deviation = inputs.std(axis=0, dtype=np.float64)

    # Rounding alone makes a constant column vary a little.
    rounding = 1e-7 * np.abs(mean) + np.finfo(np.float32).tiny
    is_constant = deviation <= rounding
    scale = np.where(is_constant, 1, deviation)
    return mean.astype(np.float32), scale.astype(np.float32)


def z_scored(inputs: NDArray[Any]) -> tuple[Floats, Floats, Doubles]:
    """Mean and scale (D,) as of `z_scores`, and the scored inputs (N, D)."""
    mean, scale = z_scores(inputs)
    # Subtracted and divided in float32, as when a read-out is used.
    return mean, scale, ((inputs - mean) / scale).astype(np.float64)


def cell_coordinates(shape: tuple[int, ...]) -> Floats:
    """(cells, len(shape)) row and column of every cell in C order, z-scored over the
    grid.

    Every turn queries the same cells, so these are the z-scores over all training rows
    as well. Labels without a grid have shape (): one cell without coordinates.
    """
    n_cells = prod(shape)
    by_side = np.indices(shape, dtype=np.float64).reshape(len(shape), n_cells)
    indices = by_side.T
    mean, scale = z_scores(indices)
    scored = (indices - mean) / scale
    return scored.astype(np.float32)


def check_finite(inputs: NDArray[Any]) -> None:
    """Refuse activations (N, D) that are not numbers.

    Raises:
        ValueError: names the first row with an infinite or undefined value.
    """
    finite = np.isfinite(inputs).all(axis=1)
    _check_rows(finite)


def check_tokens(inputs: NDArray[Any]) -> None:
    """Refuse activations (N, T, D) that are not numbers, but for NaN in the whole of
    all tokens after a row's last.

    Raises:
        ValueError: names the first row with another infinite or undefined value, or
            without any token.
    """
    is_padding = np.isnan(inputs).all(axis=2)
    n_tokens = (~is_padding).sum(axis=1)
    places = np.arange(inputs.shape[1])

    # Padding before a token, or in a part of one, puts a NaN where a token is expected.
    is_token = places < n_tokens[:, None]
    is_finite = np.isfinite(inputs).all(axis=2)
    as_expected = (is_finite == is_token).all(axis=1)
    _check_rows(as_expected & (n_tokens > 0))


def _check_rows(finite: Bools) -> None:
    """Name the first row that is False."""
    if not finite.all():
        row = np.argmin(finite)
        raise ValueError(
            f"activations must be finite, got an infinite or undefined value in row {row}"
        )
