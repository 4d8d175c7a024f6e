"""Fitting a linear read-out of places with torch: AdamW, all cells in every step."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from gde_plugins.probes.design import Design, Prepare
from gde_plugins.probes.one_thread import one_thread
from gde_plugins.probes.places import Places, PlaceWeights, incidence
from gde_plugins.probes.training import Examples, Settings


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
    tensors = {
        name: torch.tensor(array, device=settings.device)
        for name, array in (("by_place", start.by_place), ("bias", start.bias))
    }
    matrix = torch.from_numpy(incidence(start.places, examples.shape)).to(settings.device)
    optimizer = torch.optim.AdamW(
        tensors.values(), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True
    )
    n_turns = len(examples.inputs)
    steps = settings.epochs * -(-n_turns // settings.batch)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps)
    for _ in range(settings.epochs):
        order = rng.permutation(n_turns)
        for first in range(0, n_turns, settings.batch):
            turns = order[first : first + settings.batch]
            batch = (examples.inputs[turns], examples.targets[turns], examples.weights[turns].astype(np.float32))
            inputs, targets, weights = (torch.from_numpy(each).to(settings.device) for each in batch)
            at_scores = _gradient(tensors, matrix, inputs, targets, weights)
            tensors["by_place"].grad = inputs.t() @ at_scores
            tensors["bias"].grad = at_scores.sum(0)
            optimizer.step()
            cosine.step()
    return replace(start, by_place=tensors["by_place"].cpu().numpy(), bias=tensors["bias"].cpu().numpy())


def _gradient(tensors: dict[str, Tensor], matrix: Tensor, inputs: Tensor, targets: Tensor, weights: Tensor) -> Tensor:
    """(B, F * C) gradient of the mean weighted cross-entropy in the scores of the places."""
    n_turns, n_cells = targets.shape
    scores = torch.addmm(tensors["bias"], inputs, tensors["by_place"]).view(n_turns, matrix.shape[1], -1)
    logits = matrix @ scores
    error = logits.softmax(-1)
    error.scatter_add_(-1, targets[..., None], torch.full_like(logits[..., :1], -1))
    error *= weights[..., None] / (n_turns * n_cells)
    return (matrix.t() @ error).reshape(n_turns, -1)
