"""Fitting the factored network with torch: AdamW on half a cosine, sampled cells."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim import AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR

from gde.data.arrays import Doubles, Floats, Indices, Ints
from gde_plugins.probes.config import ProbeConfig
from gde_plugins.probes.fitting.design import Design
from gde_plugins.probes.fitting.gradients import Batch, loss_and_gradients
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.weights import CellWeights, cell_coordinates

FIXED = ("mean", "scale")
"""Arrays of the network that are not trained."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Size of the network, and settings of its training."""

    hidden: int
    """Hidden units; 0 for a linear probe."""
    whiten: bool
    epochs: int
    batch: int
    """Turns per training step."""
    cells: int | None
    """Cells of each turn per training step; None for all."""
    learning_rate: float
    weight_decay: float
    device: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """N turns with their cells."""

    inputs: NDArray[Any]
    """(N, D) activations."""
    shape: tuple[int, ...]
    """Shape of the grid; () for one label per turn."""
    targets: Ints | Floats
    """(N, cells) class indices, or numbers for a regression."""
    weights: Doubles
    """(N, cells) weight of each cell in the loss, positive, of mean 1."""


@one_thread()
def fit_network(
    examples: Examples,
    n_outputs: int,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[CellWeights, list[float]]:
    """Fit the network to activations as captured; return it and the loss of every step.

    One thread computes, so that the numbers are the same on any machine. It is also
    faster where another process holds a core: the matrices of a step are small, and
    threads would wait for each other after every product.
    """
    design = Design.of(examples.inputs, settings.whiten)
    start = CellWeights.initial(
        n_inputs=design.inputs.shape[1],
        n_coordinates=len(examples.shape),
        n_outputs=n_outputs,
        hidden=settings.hidden,
        rng=rng,
    )
    normalised = replace(examples, inputs=design.inputs)
    learned, losses = train(start, normalised, settings, rng)

    # The network was trained on the design's inputs. From here on it reads activations
    # as captured.
    fitted = replace(
        learned,
        mean=design.mean,
        scale=design.scale,
        activation=design.on_scores(learned.activation),
    )
    return fitted, losses


def train(
    start: CellWeights,
    examples: Examples,
    settings: Settings,
    rng: np.random.Generator,
) -> tuple[CellWeights, list[float]]:
    """Train the network on normalised inputs; return it and the loss of every step."""
    parameters = {}
    for name, array in start.arrays().items():
        if name not in FIXED:
            parameters[name] = torch.tensor(array, device=settings.device)

    optimizer, cosine = descent(parameters.values(), settings, len(examples.inputs))
    losses = []
    for batch in _batches(examples, settings, rng):
        loss, gradients = loss_and_gradients(parameters, batch)
        for name, parameter in parameters.items():
            parameter.grad = gradients[name]
        optimizer.step()
        cosine.step()
        losses.append(loss)

    trained = {name: parameter.cpu().numpy() for name, parameter in parameters.items()}
    return replace(start, **trained), losses


def examples_of(
    inputs: NDArray[Any],
    codes: Ints,
    shape: tuple[int, ...],
    n_classes: int,
) -> Examples:
    """Turns with the class indices (N, cells) of their cells, to be learned from. Each
    class has the same weight.
    """
    weights = class_weights(codes, n_classes)
    return Examples(inputs=inputs, shape=shape, targets=codes, weights=weights)


def class_weights(codes: Ints, n_classes: int) -> Doubles:
    """Return weights of mean 1 that give each class the same total; shape of `codes`."""
    counts = np.bincount(codes.ravel(), minlength=n_classes)
    weights = codes.size / n_classes / counts
    return np.asarray(weights[codes])


def settings_of(config: ProbeConfig, hidden: int, learning_rate: float) -> Settings:
    """The settings of a probe's configuration, with all cells of each turn."""
    return Settings(
        hidden=hidden,
        whiten=config.whiten,
        epochs=config.epochs,
        batch=config.batch,
        cells=None,
        learning_rate=learning_rate,
        weight_decay=config.weight_decay,
        device=config.device,
    )


def descent(
    parameters: Iterable[Tensor], settings: Settings, n_turns: int
) -> tuple[AdamW, CosineAnnealingLR]:
    """Make AdamW with a learning rate that decays to zero along half a cosine."""
    optimizer = AdamW(
        parameters,
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    steps = settings.epochs * ceil(n_turns / settings.batch)
    return optimizer, CosineAnnealingLR(optimizer, T_max=steps)


def sample_cells(
    weights: Doubles,
    n_cells: int,
    rng: np.random.Generator,
) -> tuple[Indices, Doubles]:
    """Priority sampling (Duffield et al. 2007): heavy cells nearly always, light ones
    now and then.

    A cell's priority is its weight divided by a uniform number. The cells of highest
    priority are taken, each with the weight max(own, highest priority not taken), which
    keeps every weighted sum over cells unbiased.

    Args:
        weights: (N, cells) positive.
        n_cells: number taken from each row; all where there are no more.
        rng: not drawn from where all cells are taken.

    Returns:
        Their indices and weights, both (N, min(n_cells, cells)).
    """
    n_turns, n_all = weights.shape
    if n_cells >= n_all:
        every = np.tile(np.arange(n_all), (n_turns, 1))
        return every, weights

    # `random` is below 1 and may be 0. One less it is never 0.
    uniform = 1 - rng.random(weights.shape)
    priority = weights / uniform
    order = np.argpartition(-priority, n_cells, axis=1)
    taken = order[:, :n_cells]
    next_best = order[:, n_cells : n_cells + 1]

    own = np.take_along_axis(weights, taken, axis=1)
    highest_not_taken = np.take_along_axis(priority, next_best, axis=1)
    return taken, np.maximum(own, highest_not_taken)


def _batches(
    examples: Examples, settings: Settings, rng: np.random.Generator
) -> Iterator[Batch]:
    """Yield all turns in a new order every epoch, with newly sampled cells."""

    def tensor(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(settings.device)

    n_turns, n_cells = examples.weights.shape
    coordinates = tensor(cell_coordinates(examples.shape))
    for _ in range(settings.epochs):
        order = rng.permutation(n_turns)
        for start in range(0, n_turns, settings.batch):
            turns = order[start : start + settings.batch]
            weights = examples.weights[turns]
            cells, importance = sample_cells(weights, settings.cells or n_cells, rng)

            # Divided by the number of all cells, sampled or not: sampled sums stand for
            # the sums over all.
            shares = (importance / weights.size).astype(np.float32)
            targets = np.take_along_axis(examples.targets[turns], cells, axis=1)
            yield Batch(
                inputs=tensor(examples.inputs[turns]),
                cells=tensor(cells),
                coordinates=coordinates,
                targets=tensor(targets),
                weights=tensor(shares),
            )
