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
    """Fit the read-out to activations as captured."""
    design = prepare(examples.inputs, settings.whiten)
    start = PlaceWeights.initial(
        places, design.inputs.shape[1], examples.shape, n_classes
    )
    learned = _train(start, replace(examples, inputs=design.inputs), settings, rng)
    by_place = design.on_scores(learned.by_place)
    return replace(learned, mean=design.mean, scale=design.scale, by_place=by_place)


def _train(
    start: PlaceWeights,
    examples: Examples,
    settings: Settings,
    rng: np.random.Generator,
) -> PlaceWeights:
    """Learn the weights from inputs that are normalised already."""
    n_turns, n_inputs = examples.inputs.shape
    device = settings.device

    # Held class by class, (C * F, D), so that every product is one of two large
    # matrices.
    by_place = start.by_place.T.reshape(-1, start.n_classes, n_inputs)
    by_class = by_place.swapaxes(0, 1).reshape(-1, n_inputs)
    weight = torch.tensor(by_class, device=device)
    bias_by_class = start.bias.reshape(-1, start.n_classes).T.flatten()
    bias = torch.tensor(bias_by_class, device=device)
    places = torch.from_numpy(incidence(start.places, examples.shape)).to(device)

    optimizer = torch.optim.AdamW(
        (weight, bias),
        lr=settings.learning_rate,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    steps = settings.epochs * ceil(n_turns / settings.batch)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)

    # Filled anew in every step: to ask the system for new memory would take longer than
    # to fill it.
    held = np.empty((settings.batch, n_inputs), examples.inputs.dtype)
    for _ in range(settings.epochs):
        order = rng.permutation(n_turns)
        for first in range(0, n_turns, settings.batch):
            turns = order[first : first + settings.batch]
            # "clip" writes into `held` directly, where the default mode goes through a
            # buffer.
            taken = examples.inputs.take(
                turns, axis=0, out=held[: len(turns)], mode="clip"
            )
            cell_weights = examples.weights[turns].astype(np.float32)
            inputs = torch.from_numpy(taken).to(device)
            targets = torch.from_numpy(examples.targets[turns]).to(device)
            weights = torch.from_numpy(cell_weights).to(device)

            scores = linear(inputs, weight, bias)
            at_scores = _gradient(scores, places, targets, weights)
            weight.grad = at_scores.t() @ inputs
            bias.grad = at_scores.sum(0)
            optimizer.step()
            cosine.step()

    # Back to place by place, the order of `PlaceWeights`.
    learned = weight.cpu().numpy().reshape(start.n_classes, -1, n_inputs)
    learned_by_place = learned.swapaxes(0, 1).reshape(-1, n_inputs).T
    learned_bias = bias.cpu().numpy().reshape(start.n_classes, -1)
    return replace(
        start,
        by_place=np.ascontiguousarray(learned_by_place),
        bias=learned_bias.T.flatten(),
    )


def _gradient(
    scores: Tensor,
    places: Tensor,
    targets: Tensor,
    weights: Tensor,
) -> Tensor:
    """(B, C * F) gradient of the mean weighted cross-entropy in the scores (B, C * F)
    of the places.

    Worked out by hand: it is the error of the probabilities, summed over the cells at
    each place.
    """
    n_turns, n_cells = targets.shape
    n_places = places.shape[1]
    by_cell = scores.view(-1, n_places) @ places.t()
    logits = by_cell.view(n_turns, -1, n_cells)

    # The gradient of cross-entropy in the logits: the probabilities, less 1 at the true
    # class.
    error = logits.softmax(1)
    minus_one = torch.full_like(logits[:, :1], -1)
    error.scatter_add_(1, targets[:, None], minus_one)
    error *= weights[:, None] / (n_turns * n_cells)

    at_places = error.view(-1, n_cells) @ places
    return at_places.view(n_turns, -1)
