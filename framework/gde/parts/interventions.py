"""Checks of the interventions that a request asks a language model for."""

from collections.abc import Mapping, Sequence

from gde.data.activations import EMBEDDING, Intervention
from gde.data.completion import ChatRequest, ModelInfo
from gde.data.place import RESIDUAL
from gde.errors import GdeError


def refuse_interventions(request: ChatRequest, model: ModelInfo) -> None:
    """Refuse interventions and a prefill, for a model without the capability
    INTERVENTIONS.

    Raises:
        GdeError: the request has what the model would silently ignore.
    """
    advice = "take a model with the capability `interventions`"
    if request.interventions:
        n = len(request.interventions)
        raise GdeError(
            f"{model.name} takes no interventions, and the request has {n}: {advice}"
        )
    if request.prefill:
        n = len(request.prefill)
        raise GdeError(
            f"{model.name} takes no prefill, and the request has {n} tokens: {advice}"
        )


def positions_of(
    request: ChatRequest,
    template: Mapping[str, tuple[int, ...]],
    n_prompt: int,
    model: ModelInfo,
) -> Mapping[str, tuple[int, ...]]:
    """The positions of a request before anything is generated.

    Args:
        request: perhaps with positions of its own.
        template: the positions that the model knows in the prompt.
        n_prompt: tokens of the prompt.
        model: the model, for messages.

    Raises:
        GdeError: a position of the request has the name of the template's, or is beyond
            the tokens that are there.
    """
    n_tokens = n_prompt + len(request.prefill)
    for name, places in request.positions.items():
        if (
            name in template
            or not places
            or not 0 <= min(places) <= max(places) < n_tokens
        ):
            raise GdeError(
                f"{model.name}: position {name!r} of a request: wanted a new name and tokens from 0 to"
                f" {n_tokens - 1}, got {places}"
            )
    return {**template, **request.positions}


def check_interventions(
    interventions: Sequence[Intervention],
    positions: Mapping[str, Sequence[int]],
    model: ModelInfo,
) -> None:
    """Refuse interventions that do not fit the model.

    The model has the capability INTERVENTIONS.

    Args:
        interventions: those of a request.
        positions: the positions of the prompt or, in a replay, of the sequence.
        model: the model, whose layers and width they must fit.

    Raises:
        GdeError: a layer, place or position is missing, or a vector has the wrong
            shape.
    """
    for each in interventions:
        problem = _problem(each, positions, model)
        if problem:
            raise GdeError(
                f"{model.name}: intervention at layer {each.layer} and position {each.position!r}: {problem}"
            )


def _problem(
    each: Intervention, positions: Mapping[str, Sequence[int]], model: ModelInfo
) -> str:
    """What is wrong with an intervention; empty where it fits."""
    places = positions.get(each.position, ())
    if not EMBEDDING <= each.layer < model.n_layers:
        return f"wanted a layer from {EMBEDDING} (embeddings) to {model.n_layers - 1}"
    if not places:
        return f"wanted a position of the tokens that are there: {', '.join(sorted(positions)) or 'none'}"
    if each.layer == EMBEDDING and each.place != RESIDUAL:
        return f"wanted the place {RESIDUAL} of the embeddings, got {each.place!r}"
    try:
        width = model.width_at(each.place)
    except GdeError as error:
        return str(error)
    vector = each.vector
    if vector.shape[-1] != width:
        return f"wanted a vector of width {width}, got {vector.shape[-1]}"
    if vector.ndim == 2 and len(vector) != len(places):
        return (
            f"wanted one vector, or {len(places)} for as many tokens, got {len(vector)}"
        )
    return ""
