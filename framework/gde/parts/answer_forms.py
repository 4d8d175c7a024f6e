"""The check of the form that a request asks for."""

from gde.data.completion import ChatRequest, ModelInfo
from gde.errors import GdeError


def refuse_form(request: ChatRequest, model: ModelInfo) -> None:
    """Refuse a form of the answer, for a model without the capability ANSWER_FORMS.

    Raises:
        GdeError: the request has what the model would silently ignore.
    """
    if request.form and request.form.kind != "json":
        advice = "ask for free text, or take a model with the capability `answer_forms`"
        raise GdeError(f"{model.name} keeps to no form of answers: {advice}")
