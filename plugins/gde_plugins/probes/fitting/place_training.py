"""Fitting a linear read-out of places with torch: AdamW, all cells in every step."""

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import linear

from gde_plugins.probes.fitting.design import Design
from gde_plugins.probes.fitting.one_thread import one_thread
from gde_plugins.probes.fitting.places import Places, PlaceWeights, incidence
from gde_plugins.probes.fitting.training import Examples, Settings, descent


@one_thread()
def fit_places(
    places: Places,
    examples: Examples,
    n_classes: int,
    settings: Settings,
    rng: np.random.Generator,
) -> PlaceWeights:
    """Fit the read-out to activations as captured."""
    design = Design.of(examples.inputs, settings.whiten)
    n_turns, n_inputs = design.inputs.shape
    device = settings.device
    at = torch.from_numpy(incidence(places, examples.shape)).to(device)

    # Held class by class, (C * F, D), so that every product is one of two large
    # matrices. The loss is convex, so there is no symmetry to break by random weights.
    n_scores = n_classes * at.shape[1]
    weight = torch.zeros(n_scores, n_inputs, device=device)
    bias = torch.zeros(n_scores, device=device)
    optimizer, cosine = descent([weight, bias], settings, n_turns)

    for _ in range(settings.epochs):
        order = rng.permutation(n_turns)
        for first in range(0, n_turns, settings.batch):
            turns = order[first : first + settings.batch]
            cell_weights = examples.weights[turns].astype(np.float32)
            inputs = torch.from_numpy(design.inputs[turns]).to(device)
            targets = torch.from_numpy(examples.targets[turns]).to(device)
            weights = torch.from_numpy(cell_weights).to(device)

            scores = linear(inputs, weight, bias)
            at_scores = _gradient(scores, at, targets, weights)
            weight.grad = at_scores.t() @ inputs
            bias.grad = at_scores.sum(0)
            optimizer.step()
            cosine.step()

    # Place by place, the order of `PlaceWeights`.
    learned = weight.cpu().numpy().reshape(n_classes, -1, n_inputs)
    by_place = learned.swapaxes(0, 1).reshape(-1, n_inputs).T
    return PlaceWeights(
        places=places,
        n_classes=n_classes,
        mean=design.mean,
        scale=design.scale,
        by_place=design.on_scores(np.ascontiguousarray(by_place)),
        bias=bias.cpu().numpy().reshape(n_classes, -1).T.flatten(),
    )


def _gradient(
    scores: Tensor, places: Tensor, targets: Tensor, weights: Tensor
) -> Tensor:
    """(B, C * F) gradient of the mean weighted cross-entropy in the scores (B, C * F)
    of the places.

    Worked out by hand: it is the error of the probabilities, summed over the cells at
    each place.
    """
    n_turns, n_cells = targets.shape
    by_cell = scores.view(-1, places.shape[1]) @ places.t()
    logits = by_cell.view(n_turns, -1, n_cells)

    # The gradient of cross-entropy in the logits: the probabilities, less 1 at the true
    # class.
    error = logits.softmax(1)
    minus_one = torch.full_like(logits[:, :1], -1)
    error.scatter_add_(1, targets[:, None], minus_one)
    error *= weights[:, None] / (n_turns * n_cells)

    at_places = error.view(-1, n_cells) @ places
    return at_places.view(n_turns, -1)
