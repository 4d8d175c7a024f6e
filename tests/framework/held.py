"""The weights that a model of transformers holds, for tests that look into them."""

from gde_plugins.language_models.capturing import Reader
from gde_plugins.language_models.transformers_model import TransformersModel


def held(model: TransformersModel) -> Reader:
    """The model's reader, loaded if it is not in memory."""
    with model._memory.holding(model._make) as reader:
        return reader
