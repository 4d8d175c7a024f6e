"""Language models and reward models that a configuration names."""

from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

from gde.data.json import Json
from gde.errors import ConfigError
from gde.offers import ModelOffer, ModelReference, RewardReference
from gde.request.catalogue import Catalogue, Entry
from gde.request.settings import build, field_names, required_fields

ReferenceT = TypeVar("ReferenceT")
SOURCE_FIELD = "source"
"""The field of a model's configuration that takes the ARGUMENT of NAME:ARGUMENT."""


def model_names(config: object) -> dict[str, str]:
    """The language models that a configuration names, by field, without empty ones."""
    return _named(config, ModelReference)


def reward_names(config: object) -> dict[str, str]:
    """The reward models that a configuration names, by field, without empty ones."""
    return _named(config, RewardReference)


def names_models(config: type[Any]) -> bool:
    """Whether configurations of this class can name a language model."""
    return bool(_references(config, ModelReference))


def _named(config: object, reference: type) -> dict[str, str]:
    named = {
        field: getattr(config, field) for field in _references(type(config), reference)
    }
    return {field: name for field, name in named.items() if name}


def _references(
    config: type[Any], reference: type[ReferenceT]
) -> dict[str, ReferenceT]:
    """The references among the annotations of a configuration, by field."""
    found: dict[str, ReferenceT] = {}
    hints = get_type_hints(config, include_extras=True)
    for field, hint in hints.items():
        annotations = getattr(hint, "__metadata__", ())
        for annotation in annotations:
            if isinstance(annotation, reference):
                found.setdefault(field, annotation)
    return found


def check_settings(label: str, config: object, settings: Mapping[str, Json]) -> None:
    """Refuse settings of a language model where the agent names none.

    Raises:
        ConfigError: there are some.
    """
    if settings and not model_names(config):
        field = next(iter(settings))
        raise ConfigError(f"model.{field}: agent {label!r} uses no language model")


def check_task(config: object, field: str, entry: Entry, whose: str) -> None:
    """Refuse a model that was made for one task if the part asks questions of its own.

    Args:
        config: the configuration that names the model.
        field: the field of the configuration that names it.
        entry: the model.
        whose: the setting that names it, for messages.

    Raises:
        ConfigError: the model was made for one task.
    """
    offer = entry.offer
    assert isinstance(offer, ModelOffer)
    references = _references(type(config), ModelReference)
    if offer.task and references[field].any_question:
        wanted = "wanted a model that can be asked anything, e.g. hf:PATH_OR_ID or openai:BASE_URL"
        raise ConfigError(
            f"{whose}: {wanted}, got {offer.name!r}, which was made for {offer.task} alone"
        )


def find_model(
    name: str, catalogue: Catalogue, settings: Mapping[str, Json], whose: str
) -> tuple[Entry, Any]:
    """The offer of a named model and its typed configuration.

    Args:
        name: NAME, NAME:ARGUMENT or PLUGIN:NAME:ARGUMENT.
        catalogue: all offers.
        settings: of the model's configuration.
        whose: the setting that names the model, for messages.

    Raises:
        UnknownName: no plugin offers it, or a setting of it.
        ConfigError: an argument that it does not take, or none where it needs one.
    """
    offer, _, argument = name.partition(":")

    # If a plugin has the name of its model, NAME:ARGUMENT wins over PLUGIN:NAME.
    plugins = {entry.plugin for entry in catalogue.entries("language_model")}
    models = catalogue.names("language_model")
    begins_with_plugin = offer in plugins and offer not in models
    if argument and begins_with_plugin:
        plugin = offer
        short_name, _, argument = argument.partition(":")
        offer = f"{plugin}:{short_name}"

    entry = catalogue.find("language_model", offer)
    return entry, _configured(entry, argument, settings, name, whose)


def _configured(
    entry: Entry, argument: str, settings: Mapping[str, Json], name: str, whose: str
) -> Any:
    """The model's configuration, with ARGUMENT in the field `source`."""
    config = entry.offer.config
    given = dict(settings)
    if argument:
        if SOURCE_FIELD not in field_names(config):
            raise ConfigError(f"{whose}: wanted {entry.offer.name}, got {name!r}")
        set_to = given.setdefault(SOURCE_FIELD, argument)
        if set_to != argument:
            conflict = f"wanted {argument!r} as {whose} says, got {set_to!r}"
            raise ConfigError(f"model.{SOURCE_FIELD}: {conflict}; drop one of them")

    if SOURCE_FIELD in required_fields(config) and SOURCE_FIELD not in given:
        raise ConfigError(f"{whose}: wanted {entry.offer.name}:SOURCE, got {name!r}")
    return build(config, given, "model")
