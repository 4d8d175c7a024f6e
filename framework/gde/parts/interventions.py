"""Checks of interventions in the residual stream of a language model."""

from collections.abc import Mapping, Sequence

from gde.data.activations import EMBEDDING, Intervention
from gde.data.completion import ChatRequest, ModelInfo
from gde.errors import GdeError


def refuse_interventions(request: ChatRequest, model: ModelInfo) -> None:
    """Refuse a request with interventions, for a model without the facet INTERVENTIONS.

    Raises:
        GdeError: the request has interventions, which the model would silently ignore.
    """
    if request.interventions:
        n = len(request.interventions)
        advice = "take a model with the facet `interventions`"
        raise GdeError(f"{model.name} takes no interventions, and the request has {n}: {advice}")


def check_interventions(
    interventions: Sequence[Intervention], marks: Mapping[str, Sequence[int]], model: ModelInfo
) -> None:
    """Check that a model and a sequence have the layers and tokens that interventions name.

    Args:
        interventions: the requested ones.
        marks: of the prompt or, in a replay, of the sequence.
        model: must have the layers and the width.

    Raises:
        GdeError: a layer or a mark is missing, or a vector has the wrong shape.
    """
    for each in interventions:
        if problem := _problem(each, marks.get(each.mark, ()), marks, model):
            raise GdeError(f"{model.name}: intervention at layer {each.layer} and mark {each.mark!r}: {problem}")


def _problem(each: Intervention, places: Sequence[int], marks: Mapping[str, Sequence[int]], model: ModelInfo) -> str:
    if not EMBEDDING <= each.layer < model.n_layers:
        return f"wanted a layer from {EMBEDDING} (embeddings) to {model.n_layers - 1}"
    if not places:
        return f"wanted a mark of the tokens that are there: {', '.join(sorted(marks)) or 'none'}"
    if each.vector.shape[-1] != model.width:
        return f"wanted a vector of width {model.width}, got {each.vector.shape[-1]}"
    if each.vector.ndim == 2 and len(each.vector) != len(places):
        return f"wanted one vector, or {len(places)} for as many tokens, got {len(each.vector)}"
    return ""
