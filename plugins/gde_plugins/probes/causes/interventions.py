"""Interventions on the activations of a prompt: steering, patching, ablation.

A direction is (width,) for all tokens at the position alike, or (tokens, width).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gde.data.activations import (
    ActivationRecord,
    CaptureRequest,
    Intervention,
    InterventionKind,
    TokenSequence,
)
from gde.data.arrays import Floats
from gde.data.completion import Completion
from gde.data.place import RESIDUAL
from gde.errors import GdeError
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.arrays import Doubles
from gde_plugins.probes.fitting.places import PlaceWeights, incidence

Direction = Floats

ROUNDING = float(np.sqrt(np.finfo(np.float32).eps))
"""Singular values below this share of the largest are rounding errors of a float32 fit.
"""


@dataclass(frozen=True, kw_only=True)
class Where:
    """A layer, a position of the prompt, and a place of the layer."""

    layer: int
    position: str = "pre"
    place: str = RESIDUAL


def steer(
    where: Where, direction: Direction, dose: float = 1.0
) -> tuple[Intervention, ...]:
    """Add `dose` times the direction."""
    # float32, because a Python float would turn the product into float64.
    return (_intervention(where, "add", np.float32(dose) * direction),)


def patch(where: Where, counterfactual: Direction) -> tuple[Intervention, ...]:
    """Replace the activations by those of a counterfactual prompt, (tokens, width)."""
    return (_intervention(where, "replace", counterfactual),)


def ablate(
    where: Where, axes: Sequence[Direction], mean: Direction
) -> tuple[Intervention, ...]:
    """Remove what varies along orthonormal axes, token by token.

    The activations keep the part of their mean there, (tokens, width): without it, they
    would be where none has ever been (Belrose et al. 2023).
    """
    removed = [_intervention(where, "project_out", axis) for axis in axes]
    kept = np.zeros_like(mean)
    for axis in axes:
        kept += (mean * axis).sum(axis=-1, keepdims=True) * axis
    return (*removed, _intervention(where, "add", kept))


def orthonormal(directions: Sequence[Direction]) -> list[Direction]:
    """Orthonormal axes of the subspace that directions (tokens, width) span, token by token.

    An intervention is one vector for every token, so all tokens get the same number of
    axes.
    """
    spanning = np.stack(directions).astype(np.float64)
    bases = [_orthonormal_basis(each) for each in spanning.swapaxes(0, 1)]
    rank = min(map(len, bases))
    of_tokens = [basis[:rank] for basis in bases]
    return [*np.stack(of_tokens, axis=1).astype(np.float32)]


def _intervention(
    where: Where, kind: InterventionKind, vector: Direction
) -> Intervention:
    return Intervention(
        layer=where.layer,
        position=where.position,
        kind=kind,
        vector=vector,
        place=where.place,
    )


def _orthonormal_basis(directions: Doubles) -> Doubles:
    """(rank, width) orthonormal axes of the span of (k, width) directions."""
    _, singular, axes = np.linalg.svd(directions, full_matrices=False)
    is_real = singular > ROUNDING * singular.max()
    kept: Doubles = axes[is_real]
    return kept


def random_direction(like: Direction, rng: np.random.Generator) -> Direction:
    """Draw a random direction of equal length at every token: the control of `steer`."""
    drawn = rng.normal(size=like.shape)
    wanted = np.linalg.norm(like, axis=-1, keepdims=True)
    actual = np.linalg.norm(drawn, axis=-1, keepdims=True)
    return np.asarray(drawn * (wanted / actual), dtype=np.float32)


def of_length(like: Direction, other: Direction) -> Direction:
    """Return another direction with the length of this one over all tokens."""
    wanted = np.linalg.norm(like)
    actual = np.linalg.norm(other)
    return np.asarray(other * (wanted / actual), dtype=np.float32)


def towards(
    weights: PlaceWeights,
    code: int,
    cells: tuple[int, int],
    shape: tuple[int, ...],
    among: Direction,
) -> Direction:
    """Return the change that moves a class's score by one logit between two cells.

    It is (tokens, width).

    The gradient of the scores' difference would be the smallest such change, but mostly
    noise to the model: the weights of a linear read-out also cancel distractors (Haufe
    et al. 2014). The gradient is therefore multiplied by the covariance of the
    activations, which gives the direction along which they really vary with the
    difference.

    Args:
        weights: of a fitted read-out.
        code: index of the class among those that the read-out was trained on.
        cells: the cell that loses and the cell that gains, in C order.
        shape: of the map.
        among: (N, tokens, width) activations of many prompts.

    Raises:
        GdeError: the activations do not vary with the difference.
    """
    loses, gains = cells
    rising = cell_gradient(weights, code, gains, shape)
    gradient = rising - cell_gradient(weights, code, loses, shape)

    pattern = _covariance_with(gradient[:, None], among)[:, 0]
    if not pattern.any():
        raise GdeError(
            f"no activation varies with the score of cells {cells}: there is nothing to steer along"
        )

    # Divided by the change of the scores along it, so that one step along it is one
    # unit of logits.
    per_step = gradient @ pattern
    direction = np.asarray(pattern / per_step, dtype=np.float32)
    return direction.reshape(among.shape[1:])


def subspace(
    weights: PlaceWeights,
    code: int,
    cells: Sequence[int],
    shape: tuple[int, ...],
    among: Direction,
) -> list[Direction]:
    """Return axes along which activations vary with a class's scores in cells.

    They are (tokens, width). Without what varies along them, nothing linear in the
    activations predicts the scores any more (Belrose et al. 2023).
    """
    gradients = [cell_gradient(weights, code, cell, shape) for cell in cells]
    return _varying_with(np.stack(gradients, axis=1), among)


def random_subspace(
    weights: PlaceWeights, n: int, among: Direction, rng: np.random.Generator
) -> list[Direction]:
    """Return axes along which activations vary with `n` random scores.

    A subspace of random directions would be a weak control: activations hardly vary in
    most of them.
    """
    gradients = rng.normal(size=(len(weights.mean), n)) / weights.scale[:, None]
    return _varying_with(gradients, among)


def _varying_with(gradients: Doubles, among: Direction) -> list[Direction]:
    """Axes along which activations vary with scores of these gradients (D, K)."""
    patterns = _covariance_with(gradients, among)
    directions = []
    for pattern in patterns.T:
        if pattern.any():
            directions.append(pattern.reshape(among.shape[1:]))
    return orthonormal(directions) if directions else []


def _covariance_with(gradients: Doubles, among: Direction) -> Doubles:
    """(D, K) covariance of the activations (N, tokens, width) with K scores of these
    gradients (D, K).
    """
    n_turns = len(among)
    turns = among.reshape(n_turns, -1).astype(np.float64)
    turns = turns - turns.mean(axis=0)

    # Scores first: the covariance of all activations with each other, (D, D), is never
    # formed.
    scores = turns @ gradients
    covariance: Doubles = turns.T @ scores / n_turns
    return covariance


def cell_gradient(
    weights: PlaceWeights,
    code: int,
    cell: int,
    shape: tuple[int, ...],
) -> Doubles:
    """(D,) gradient of a class's score at a cell, in the activations as captured."""
    n_inputs = len(weights.mean)
    by_place = weights.by_place.reshape(n_inputs, -1, weights.n_classes)
    of_class = by_place[:, :, code].astype(np.float64)
    places = incidence(weights.places, shape)[cell]
    gradient: Doubles = of_class @ places / weights.scale
    return gradient


def deepest_activations(
    model: WhiteBox,
    completions: Sequence[Completion],
    changes: Sequence[Sequence[Intervention]],
    positions: tuple[str, ...],
) -> list[ActivationRecord]:
    """Capture each prompt at the deepest layer with its changes.

    A change that has no effect on the forward pass leaves these activations as they
    are.
    """
    deepest = model.info.n_layers - 1
    request = CaptureRequest(layers=(deepest,), positions=positions)
    prompts = map(prompt_of, completions, changes)
    return model.capture([*prompts], request)


def differ(one: ActivationRecord, other: ActivationRecord) -> bool:
    """Return whether two captures of the same places differ anywhere."""
    return any(
        not np.array_equal(values, other.values[place])
        for place, values in one.values.items()
    )


def prompt_of(
    completion: Completion, changes: Sequence[Intervention] = ()
) -> TokenSequence:
    """Return the prompt of an answer, to be captured with changes."""
    n_tokens = len(completion.prompt_tokens)
    # Positions in the answer itself, such as "post", are not in the prompt.
    positions = {}
    for position, places in completion.positions.items():
        if max(places) < n_tokens:
            positions[position] = places
    return TokenSequence(
        tokens=completion.prompt_tokens,
        positions=positions,
        interventions=tuple(changes),
    )
