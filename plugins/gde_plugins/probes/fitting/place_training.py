"""Fitting a linear read-out of places with torch: AdamW, all cells in every step."""

from dataclasses import replace
from math import ceil

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear

from gde_plugins.probes.fitting.design import Design, Prepare
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.places import Places, PlaceWeights, incidence
from gde_plugins.probes.fitting.training import Examples, Settings


@one_thread()
def fit_places(
    places: Places,
    examples: Examples,
    n_classes: int,
    settings: Settings,
    rng: np.random.Generator,
    prepare: Prepare = Design.of,
) -> PlaceWeights:
    """The read-out fitted to activations as captured."""
    design = prepare(examples.inputs, settings.whiten)
    start = PlaceWeights.initial(places, design.inputs.shape[1], examples.shape, n_classes)
    learned = _train(start, replace(examples, inputs=design.inputs), settings, rng)
    by_place = design.on_scores(learned.by_place)
    return replace(learned, mean=design.mean, scale=design.scale, by_place=by_place)


def _train(start: PlaceWeights, examples: Examples, settings: Settings, rng: np.random.Generator) -> PlaceWeights:
    """Learn the weights from inputs that are normalised already."""
    n_turns, n_inputs = examples.inputs.shape

    # Held class by class, (C * F, D), so that every product is one of two large matrices.
    by_class = start.by_place.T.reshape(-1, start.n_classes, n_inputs).swapaxes(0, 1).reshape(-1, n_inputs)
    weight = torch.tensor(by_class, device=settings.device)
    bias = torch.tensor(start.bias.reshape(-1, start.n_classes).T.flatten(), device=settings.device)
    places = torch.from_numpy(incidence(start.places, examples.shape)).to(settings.device)
    optimizer = torch.optim.AdamW(
        (weight, bias), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    steps = settings.epochs * ceil(n_turns / settings.batch)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)

    # Filled anew in every step: to ask the system for new memory would take longer than to fill it.
    held = np.empty((settings.batch, n_inputs), examples.inputs.dtype)
    for _ in range(settings.epochs):
        order = rng.permutation(n_turns)
        for first in range(0, n_turns, settings.batch):
            turns = order[first : first + settings.batch]
            taken = examples.inputs.take(turns, axis=0, out=held[: len(turns)], mode="clip")
            inputs = torch.from_numpy(taken).to(settings.device)
            targets = torch.from_numpy(examples.targets[turns]).to(settings.device)
            weights = torch.from_numpy(examples.weights[turns].astype(np.float32)).to(settings.device)
            at_scores = _gradient(linear(inputs, weight, bias), places, targets, weights)
            weight.grad = at_scores.t() @ inputs
            bias.grad = at_scores.sum(0)
            optimizer.step()
            cosine.step()

    learned = weight.cpu().numpy().reshape(start.n_classes, -1, n_inputs)
    by_place = learned.swapaxes(0, 1).reshape(-1, n_inputs).T
    learned_bias = bias.cpu().numpy().reshape(start.n_classes, -1).T.flatten()
    return replace(start, by_place=np.ascontiguousarray(by_place), bias=learned_bias)


def _gradient(scores: Tensor, places: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """(B, C * F) gradient of the mean weighted cross-entropy in the scores (B, C * F) of the places.

    Worked out by hand: it is the error of the probabilities, summed over the cells at each place.
    """
    n_turns, n_cells = targets.shape
    logits = (scores.view(-1, places.shape[1]) @ places.t()).view(n_turns, -1, n_cells)
    error = logits.softmax(1)
    error.scatter_add_(1, targets[:, None], torch.full_like(logits[:, :1], -1))
    error *= weights[:, None] / (n_turns * n_cells)
    return (error.view(-1, n_cells) @ places).view(n_turns, -1)
