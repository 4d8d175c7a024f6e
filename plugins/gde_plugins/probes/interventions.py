"""Changes of the residual stream that a causal test makes: along a direction, to those of a twin, out of a subspace.

A direction is (width,) for all marked tokens alike, or (tokens, width). Everything here is for one case of a test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gde.data.activations import CaptureRequest, Intervention, TokenSequence
from gde.data.completion import Completion
from gde.errors import GdeError
from gde.parts.language_model import WhiteBox
from gde_plugins.probes.places import PlaceWeights

Direction = NDArray[np.float32]


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


def towards(weights: PlaceWeights, code: int, here: int, there: int, n_tokens: int) -> Direction:
    """(tokens, width) the least change of the activations that takes as much from a class's score at one place as it
    gives to another, one unit of logits each.

    Args:
        weights: of a fitted readout.
        code: of the class, among those that it was trained on.
        here: the place that loses, e.g. a column of a `bilinear` readout, counted after all rows.
        there: the place that gains.
        n_tokens: marked tokens, which the readout was given side by side.
    """
    places = weights.by_place.reshape(len(weights.mean), -1, weights.n_classes)
    gradient = (places[:, there, code] - places[:, here, code]) / weights.scale
    return np.asarray(2 * gradient / (gradient @ gradient), dtype=np.float32).reshape(n_tokens, -1)


def activations_of(model: WhiteBox, completion: Completion, where: Where) -> Direction:
    """(tokens, width) what a prompt leaves at a place, without interventions.

    Raises:
        GdeError: the prompt has no such mark.
    """
    (found,) = model.capture([_prompt(completion, ())], CaptureRequest(layers=(where.layer,), marks=(where.mark,)))
    if (where.layer, where.mark) not in found.values:
        raise GdeError(f"the prompt has no mark {where.mark!r}; it has {', '.join(sorted(completion.marks))}")
    return found.values[where.layer, where.mark]


def check_changed(model: WhiteBox, completion: Completion, changes: Sequence[Intervention]) -> None:
    """Whether the forward pass of a prompt is another with the changes, at the deepest layer.

    Raises:
        GdeError: it is the same.
    """
    marks = tuple({each.mark for each in changes})
    request = CaptureRequest(layers=(model.info.n_layers - 1,), marks=marks)
    plain, changed = model.capture([_prompt(completion, ()), _prompt(completion, tuple(changes))], request)
    if all(np.array_equal(values, changed.values[place]) for place, values in plain.values.items()):
        raise GdeError(f"{model.info.name}: an intervention at {', '.join(marks)} changed nothing in the forward pass")


def _prompt(completion: Completion, changes: tuple[Intervention, ...]) -> TokenSequence:
    n = len(completion.prompt_tokens)
    marks = {mark: places for mark, places in completion.marks.items() if max(places) < n}
    return TokenSequence(tokens=completion.prompt_tokens, marks=marks, interventions=changes)


def _basis(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(rank, width) orthonormal axes of what (k, width) directions span."""
    _, singular, axes = np.linalg.svd(directions, full_matrices=False)
    kept: NDArray[np.float64] = axes[singular > 1e-6 * singular.max()]
    return kept
