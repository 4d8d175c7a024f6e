"""Changes of the residual stream that a causal test makes: along a direction, to those of a twin, out of a subspace.

A direction is (width,) for all marked tokens alike, or (tokens, width). Everything here is for one case of a test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import ActivationRecord, CaptureRequest, Intervention, TokenSequence
from gde.data.completion import Completion
from gde.errors import GdeError
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.places import PlaceWeights, incidence

Direction = NDArray[np.float32]
ROUNDING = float(np.sqrt(np.finfo(np.float32).eps))
"""What directions of a subspace differ by, relative to the longest axis, is below this the rounding of a probe that was
fitted in float32: the axes along which rows and columns depend on each other are not exactly none."""


@dataclass(frozen=True, kw_only=True)
class Where:
    """A layer and a mark of the prompt."""

    layer: int
    mark: str = "pre"


def steer(where: Where, direction: Direction, dose: float = 1.0) -> tuple[Intervention, ...]:
    """Add `dose` times the direction."""
    return (Intervention(layer=where.layer, mark=where.mark, kind="add", vector=np.float32(dose) * direction),)


def patch(where: Where, twin: Direction) -> tuple[Intervention, ...]:
    """Replace the activations by those of a twin (tokens, width), see `activations_of`."""
    return (Intervention(layer=where.layer, mark=where.mark, kind="replace", vector=twin),)


def ablate(where: Where, directions: Sequence[Direction]) -> tuple[Intervention, ...]:
    """Project out the subspace that the directions span, at each token that of its own."""
    spanning = np.stack(directions).astype(np.float64)
    by_token = spanning[:, None] if spanning.ndim == 2 else spanning
    bases = [_basis(by_token[:, token]) for token in range(by_token.shape[1])]
    rank = min(len(basis) for basis in bases)
    axes = np.stack([basis[:rank] for basis in bases], axis=1).astype(np.float32)
    vectors = axes[:, 0] if spanning.ndim == 2 else axes
    return tuple(Intervention(layer=where.layer, mark=where.mark, kind="project_out", vector=each) for each in vectors)


def random_direction(like: Direction, rng: np.random.Generator) -> Direction:
    """A direction at random, as long at every token as the one given: the control of `steer`."""
    drawn = rng.normal(size=like.shape)
    lengths = np.linalg.norm(like, axis=-1, keepdims=True) / np.linalg.norm(drawn, axis=-1, keepdims=True)
    return np.asarray(drawn * lengths, dtype=np.float32)


def towards(
    weights: PlaceWeights, code: int, cells: tuple[int, int], shape: tuple[int, ...], among: NDArray[np.float32]
) -> Direction:
    """(tokens, width) the change of the activations that takes a class's score from one cell to another, one unit of
    logits of their difference, along the way in which activations really vary with that difference.

    The gradient of the difference would be the least such change, but mostly noise to the model: a linear read-out's
    weights also cancel what is not asked for (Haufe et al. 2014). So it is multiplied by the activations' covariance.

    Args:
        weights: of a fitted readout.
        code: of the class, among those that it was trained on.
        cells: the cell that loses and the cell that gains, in C order.
        shape: of the map.
        among: (N, tokens, width) activations of many prompts.

    Raises:
        GdeError: activations that do not vary with the difference, so that there is no such direction.
    """
    gradient = cell_gradient(weights, code, cells[1], shape) - cell_gradient(weights, code, cells[0], shape)
    pattern = _covarying(among, gradient[:, None])[:, 0]
    if not pattern.any():
        raise GdeError(f"no activation varies with the score of cells {cells}: there is nothing to steer along")
    return np.asarray(pattern / (gradient @ pattern), dtype=np.float32).reshape(among.shape[1:])


def subspace(weights: PlaceWeights, code: int, shape: tuple[int, ...], among: NDArray[np.float32]) -> list[Direction]:
    """(tokens, width) directions along which activations vary with what a readout says of where a class is: without
    them, nothing linear in the activations goes with it any more (Belrose et al. 2023)."""
    n_places = len(incidence(weights.places, shape)[0])
    places = weights.by_place.reshape(len(weights.mean), n_places, weights.n_classes)[:, :, code]
    patterns = _covarying(among, (places / weights.scale[:, None]).astype(np.float64))
    return [np.asarray(each, dtype=np.float32).reshape(among.shape[1:]) for each in patterns.T if each.any()]


def _covarying(among: NDArray[np.float32], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """(D, K) covariance of the activations (N, tokens, width) with K linear scores (D, K) of them."""
    turns = among.reshape(len(among), -1).astype(np.float64)
    turns = turns - turns.mean(axis=0)
    covariance: NDArray[np.float64] = turns.T @ (turns @ scores) / len(turns)
    return covariance


def cell_gradient(weights: PlaceWeights, code: int, cell: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """(D,) of a class's score at a cell, in the activations as captured."""
    places = weights.by_place.reshape(len(weights.mean), -1, weights.n_classes)[:, :, code].astype(np.float64)
    gradient: NDArray[np.float64] = places @ incidence(weights.places, shape)[cell] / weights.scale
    return gradient


def activations_of(model: WhiteBox, completion: Completion, where: Where) -> Direction:
    """(tokens, width) what a prompt leaves at a place, without interventions.

    Raises:
        GdeError: the prompt has no such mark.
    """
    (found,) = model.capture([prompt_of(completion)], CaptureRequest(layers=(where.layer,), marks=(where.mark,)))
    if (where.layer, where.mark) not in found.values:
        raise GdeError(f"the prompt has no mark {where.mark!r}; it has {', '.join(sorted(completion.marks))}")
    return found.values[where.layer, where.mark]


def outcomes(
    model: WhiteBox,
    completions: Sequence[Completion],
    changes: Sequence[Sequence[Intervention]],
    marks: tuple[str, ...],
) -> list[ActivationRecord]:
    """What each prompt leaves at the deepest layer with its changes: equal to what it leaves without them where they
    are none to the forward pass."""
    request = CaptureRequest(layers=(model.info.n_layers - 1,), marks=marks)
    return model.capture([prompt_of(*each) for each in zip(completions, changes, strict=True)], request)


def differ(one: ActivationRecord, other: ActivationRecord) -> bool:
    """Whether any of the same activations are others."""
    return any(not np.array_equal(values, other.values[place]) for place, values in one.values.items())


def prompt_of(completion: Completion, changes: Sequence[Intervention] = ()) -> TokenSequence:
    """The prompt of an answer, to be read with changes."""
    n = len(completion.prompt_tokens)
    marks = {mark: places for mark, places in completion.marks.items() if max(places) < n}
    return TokenSequence(tokens=completion.prompt_tokens, marks=marks, interventions=tuple(changes))


def _basis(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rank, width) orthonormal axes of what (k, width) directions span."""
    _, singular, axes = np.linalg.svd(directions, full_matrices=False)
    kept: NDArray[np.float64] = axes[singular > ROUNDING * singular.max()]
    return kept
