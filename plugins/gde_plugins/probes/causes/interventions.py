"""Interventions on the residual stream: steering, patching and ablation of one prompt.

A direction is (width,) for all marked tokens alike, or (tokens, width).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationRecord, CaptureRequest, Intervention, TokenSequence
from gde.data.completion import Completion
from gde.errors import GdeError
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.fitting.places import PlaceWeights, incidence

Direction = NDArray[np.float32]

ROUNDING = float(np.sqrt(np.finfo(np.float32).eps))
"""Singular values below this share of the largest are rounding of a probe that was fitted in float32."""


@dataclass(frozen=True, kw_only=True)
class Where:
    """A layer and a position of the prompt."""

    layer: int
    position: str = "pre"


def steer(where: Where, direction: Direction, dose: float = 1.0) -> tuple[Intervention, ...]:
    """Add `dose` times the direction."""
    vector = np.float32(dose) * direction
    return (Intervention(layer=where.layer, position=where.position, kind="add", vector=vector),)


def patch(where: Where, counterfactual: Direction) -> tuple[Intervention, ...]:
    """Replace the activations by those of a counterfactual prompt, (tokens, width)."""
    return (Intervention(layer=where.layer, position=where.position, kind="replace", vector=counterfactual),)


def ablate(where: Where, directions: Sequence[Direction]) -> tuple[Intervention, ...]:
    """Project out the subspace that the directions span, token by token."""
    spanning = np.stack(directions).astype(np.float64)
    alike = spanning.ndim == 2
    by_token = spanning[:, None] if alike else spanning
    bases = [_orthonormal_basis(by_token[:, token]) for token in range(by_token.shape[1])]

    # An intervention is one vector for every token, so all tokens lose the same number of dimensions.
    rank = min(len(basis) for basis in bases)
    axes = np.stack([basis[:rank] for basis in bases], axis=1).astype(np.float32)
    vectors = axes[:, 0] if alike else axes
    return tuple(
        Intervention(layer=where.layer, position=where.position, kind="project_out", vector=each) for each in vectors
    )


def _orthonormal_basis(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rank, width) orthonormal axes of the span of (k, width) directions."""
    _, singular, axes = np.linalg.svd(directions, full_matrices=False)
    kept: NDArray[np.float64] = axes[singular > ROUNDING * singular.max()]
    return kept


def random_direction(like: Direction, rng: np.random.Generator) -> Direction:
    """Draw a direction that is as long at every token as the given one: the control of `steer`."""
    drawn = rng.normal(size=like.shape)
    lengths = np.linalg.norm(like, axis=-1, keepdims=True) / np.linalg.norm(drawn, axis=-1, keepdims=True)
    return np.asarray(drawn * lengths, dtype=np.float32)


def towards(
    weights: PlaceWeights, code: int, cells: tuple[int, int], shape: tuple[int, ...], among: NDArray[np.float32]
) -> Direction:
    """(tokens, width) the change that moves a class's score from one cell to another by one unit of logits.

    The gradient of the scores' difference would be the smallest such change, but mostly noise to the model: the
    weights of a linear read-out also cancel distractors (Haufe et al. 2014). The gradient is therefore multiplied by
    the covariance of the activations, which gives the direction along which they really vary with the difference.

    Args:
        weights: of a fitted read-out.
        code: index of the class among those that the read-out was trained on.
        cells: the cell that loses and the cell that gains, in C order.
        shape: of the map.
        among: (N, tokens, width) activations of many prompts.

    Raises:
        GdeError: the activations do not vary with the difference.
    """
    gradient = cell_gradient(weights, code, cells[1], shape) - cell_gradient(weights, code, cells[0], shape)
    pattern = _covariance_with(gradient[:, None], among)[:, 0]
    if not pattern.any():
        raise GdeError(f"no activation varies with the score of cells {cells}: there is nothing to steer along")
    return np.asarray(pattern / (gradient @ pattern), dtype=np.float32).reshape(among.shape[1:])


def subspace(weights: PlaceWeights, code: int, shape: tuple[int, ...], among: NDArray[np.float32]) -> list[Direction]:
    """(tokens, width) directions along which activations vary with a class's scores at all places.

    Without them, nothing linear in the activations predicts the scores any more (Belrose et al. 2023).
    """
    n_places = incidence(weights.places, shape).shape[1]
    by_place = weights.by_place.reshape(len(weights.mean), n_places, weights.n_classes)[:, :, code]
    gradients = (by_place / weights.scale[:, None]).astype(np.float64)
    patterns = _covariance_with(gradients, among)

    varying = [pattern for pattern in patterns.T if pattern.any()]
    return [np.asarray(pattern, dtype=np.float32).reshape(among.shape[1:]) for pattern in varying]


def _covariance_with(gradients: NDArray[np.float64], among: NDArray[np.float32]) -> NDArray[np.float64]:
    """(D, K) covariance of the activations (N, tokens, width) with K scores of these gradients (D, K)."""
    turns = among.reshape(len(among), -1).astype(np.float64)
    turns = turns - turns.mean(axis=0)
    covariance: NDArray[np.float64] = turns.T @ (turns @ gradients) / len(turns)
    return covariance


def cell_gradient(weights: PlaceWeights, code: int, cell: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """(D,) gradient of a class's score at a cell, in the activations as captured."""
    by_place = weights.by_place.reshape(len(weights.mean), -1, weights.n_classes)[:, :, code].astype(np.float64)
    gradient: NDArray[np.float64] = by_place @ incidence(weights.places, shape)[cell] / weights.scale
    return gradient


def deepest_activations(
    model: WhiteBox,
    completions: Sequence[Completion],
    changes: Sequence[Sequence[Intervention]],
    positions: tuple[str, ...],
) -> list[ActivationRecord]:
    """Capture each prompt at the deepest layer with its changes.

    A change that has no effect on the forward pass leaves these activations as they are.
    """
    request = CaptureRequest(layers=(model.info.n_layers - 1,), positions=positions)
    prompts = [prompt_of(completion, change) for completion, change in zip(completions, changes, strict=True)]
    return model.capture(prompts, request)


def differ(one: ActivationRecord, other: ActivationRecord) -> bool:
    """Whether two captures of the same places differ anywhere."""
    return any(not np.array_equal(values, other.values[place]) for place, values in one.values.items())


def prompt_of(completion: Completion, changes: Sequence[Intervention] = ()) -> TokenSequence:
    """The prompt of an answer, to be captured with changes."""
    n_tokens = len(completion.prompt_tokens)
    positions = {position: places for position, places in completion.positions.items() if max(places) < n_tokens}
    return TokenSequence(tokens=completion.prompt_tokens, positions=positions, interventions=tuple(changes))
