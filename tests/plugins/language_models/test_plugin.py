"""The offers."""

import pytest
from pydantic import TypeAdapter, ValidationError

from gde.offers import Capability
from gde.testing import check_plugin
from gde_plugins.language_models import plugin
from gde_plugins.language_models.config import (
    CapturedConfig,
    GgufConfig,
    HfConfig,
    NanoConfig,
    OpenAIConfig,
)
from gde_plugins.language_models.plugin import gde_language_models


def test_the_offers_are_complete() -> None:
    offers = {offer.name: offer for offer in gde_language_models()}
    assert {name: offer.config for name, offer in offers.items()} == {
        "nano": NanoConfig,
        "hf": HfConfig,
        "gguf": GgufConfig,
        "openai": OpenAIConfig,
        "captured": CapturedConfig,
    }
    captured = offers.pop("captured")
    assert captured.gives == {Capability.ACTIVATIONS}
    for capability in (Capability.ACTIVATIONS, Capability.INTERVENTIONS):
        assert {
            name for name, offer in offers.items() if capability in offer.gives
        } == {"nano", "hf", "gguf"}
    assert all(offer.extra and offer.imports for offer in offers.values())


def test_the_plugin_keeps_the_contract() -> None:
    check_plugin(plugin)


@pytest.mark.parametrize(
    "values",
    [
        {"batch_size": 0},
        {"dtype": "int8"},
        {"source": None},
        {"timeout": 0},
        {"retries": -1},
        {"limit_field": "x"},
        {"prices": [1]},
        {"prices": [1, -1]},
        {"prices": [1, 2, 3]},
    ],
)
def test_values_out_of_range_are_refused(values: dict[str, object]) -> None:
    config = (
        OpenAIConfig
        if values.keys() & {"timeout", "retries", "limit_field", "prices"}
        else HfConfig
    )
    with pytest.raises(ValidationError, match=next(iter(values))):
        TypeAdapter(config).validate_python({"source": "http://x", **values})
