"""Loss and hand-derived gradients of the factored network for one batch."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear

FLOATS_AT_ONCE = 2**19
"""Number of hidden units computed together, over all turns and cells of a chunk: 2 MiB
fit in the cache.
"""
Parameters = dict[str, Tensor]
"""The arrays of `CellWeights` by name, without the z-scoring."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """B turns with K cells each."""

    inputs: Tensor
    """(B, D), z-scored."""
    cells: Tensor
    """(B, K) indices into `coordinates`."""
    coordinates: Tensor
    """(cells, A) of every cell."""
    targets: Tensor
    """(B, K) class indices, or numbers for a regression."""
    weights: Tensor
    """(B, K) weight of each term of the loss."""


def loss_and_gradients(
    parameters: Parameters, batch: Batch
) -> tuple[float, Parameters]:
    """Return the batch's weighted loss and its gradient in every parameter.

    The two shares of the first layer, of the turns and of the cells, are computed once.
    Their sums are computed in chunks of turns, so that the hidden units of one chunk
    alone are held. Autograd would take twice the time.
    """
    turns = torch.addmm(parameters["bias"], batch.inputs, parameters["activation"])
    cells = batch.coordinates @ parameters["coordinate"]
    output = parameters.get("output")

    gradients: Parameters = {}
    for name in ("output", "output_bias"):
        if name in parameters:
            gradients[name] = torch.zeros_like(parameters[name])
    at_turns = torch.empty_like(turns)
    at_cells = torch.zeros_like(cells)

    n_queried = batch.cells.shape[1]
    n_hidden = turns.shape[1]
    step = max(1, FLOATS_AT_ONCE // (n_queried * n_hidden))
    total = 0.0
    for start in range(0, len(turns), step):
        rows = slice(start, start + step)
        queried = batch.cells[rows].flatten()
        targets = batch.targets[rows].flatten()
        weights = batch.weights[rows].flatten()

        # Both shares of the first layer, summed in place.
        first = cells.index_select(0, queried)
        first.view(-1, n_queried, n_hidden).add_(turns[rows, None])
        if output is None:
            loss, at_first = _loss(first, targets, weights)
        else:
            hidden = first.relu_()
            logits = linear(hidden, output, parameters["output_bias"])
            loss, at_logits = _loss(logits, targets, weights)
            gradients["output"].addmm_(at_logits.t(), hidden)
            gradients["output_bias"] += at_logits.sum(0)
            # The derivative of relu is the sign of its output, 1 or 0.
            at_first = (at_logits @ output).mul_(hidden.sign_())

        total += loss
        at_turns[rows] = at_first.view(-1, n_queried, n_hidden).sum(1)
        at_cells.index_add_(0, queried, at_first)

    # The first layer is linear in both shares, so its gradients are products with what
    # they were computed from.
    gradients["activation"] = batch.inputs.t() @ at_turns
    gradients["bias"] = at_turns.sum(0)
    gradients["coordinate"] = batch.coordinates.t() @ at_cells
    return total, gradients


def _loss(logits: Tensor, targets: Tensor, weights: Tensor) -> tuple[float, Tensor]:
    """Return the weighted loss and its gradient in `logits`.

    The loss is cross-entropy for class indices, squared error for numbers.
    """
    truth = targets[:, None]
    if targets.is_floating_point():
        errors = logits - truth
        squares = errors.square()[:, 0]
        return float(squares @ weights), 2 * errors * weights[:, None]

    log_probabilities = logits.log_softmax(1)
    of_truth = log_probabilities.gather(1, truth)[:, 0]
    loss = -float(of_truth @ weights)

    # The gradient of cross-entropy in the logits: the probabilities, less 1 at the true
    # class.
    minus_one = torch.full_like(truth, -1, dtype=logits.dtype)
    gradient = log_probabilities.exp_().scatter_add_(1, truth, minus_one)
    return loss, gradient.mul_(weights[:, None])
