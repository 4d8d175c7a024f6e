"""What a language model says to a request that would change its residual stream."""

from collections.abc import Mapping, Sequence

from gde.data.activations import EMBEDDING, Intervention
from gde.data.completion import ChatRequest, ModelInfo
from gde.errors import GdeError


def refuse_interventions(request: ChatRequest, model: ModelInfo) -> None:
    """For a model without the facet INTERVENTIONS, which must not answer as if nothing had been asked.

    Raises:
        GdeError: the request has any.
    """
    if request.interventions:
        wanted = "a request without any; only models of the facet `interventions` take them"
        raise GdeError(f"{model.name} takes no interventions: wanted {wanted}; got {len(request.interventions)}")


def check_interventions(
    interventions: Sequence[Intervention], marks: Mapping[str, Sequence[int]], model: ModelInfo
) -> None:
    """For a model with the facet: whether it has the layers, and the sequence the tokens.

    Args:
        interventions: what is asked for.
        marks: those of the prompt or, in a replay, of the sequence.
        model: whose layers and width they must fit.

    Raises:
        GdeError: a layer or a mark that is not there, or a vector of another shape.
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
