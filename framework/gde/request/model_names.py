"""Language models by the text that a user writes: NAME, NAME:ARGUMENT or plugin:NAME."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from gde.data.json import Json
from gde.errors import ConfigError
from gde.offers import ModelOffer, ModelReference
from gde.request.catalogue import Catalogue, Entry
from gde.request.references import mark_of, marked, referenced
from gde.request.settings import build

SOURCE_FIELD = "source"


def model_names(config: object) -> dict[str, str]:
    """The language models that a configuration names, by the field that names each; empty ones are left out."""
    return referenced(config, ModelReference)


def names_models(config: type[Any]) -> bool:
    """Whether configurations of this class can name a language model."""
    return bool(marked(config, ModelReference))


def check_settings(label: str, config: object, settings: Mapping[str, Json]) -> None:
    """Refuse settings of a model where the agent names none.

    Raises:
        ConfigError: there are some.
    """
    if settings and not model_names(config):
        raise ConfigError(f"model.{next(iter(settings))}: agent {label!r} uses no language model")


def check_task(config: object, field: str, entry: Entry, whose: str) -> None:
    """Refuse a model that was made for one task where a part has questions of its own.

    Raises:
        ConfigError: it was; says which setting names the model and what can be named.
    """
    assert isinstance(entry.offer, ModelOffer)
    if entry.offer.task and mark_of(type(config), field, ModelReference).any_question:
        wanted = "wanted a model that can be asked anything, e.g. hf:PATH_OR_ID or openai:BASE_URL"
        raise ConfigError(f"{whose}: {wanted}, got {entry.offer.name!r}, which was made for {entry.offer.task} alone")


def find_model(name: str, catalogue: Catalogue, settings: Mapping[str, Json], whose: str) -> tuple[Entry, Any]:
    """The offer of a named model and its typed configuration.

    Args:
        name: as a user writes it.
        catalogue: what there is.
        settings: of the model's configuration.
        whose: which setting names the model, for messages.

    Raises:
        UnknownName: no plugin offers it, or a setting of it.
        ConfigError: an argument that it does not take, or none where it needs one.
    """
    offer, _, argument = name.partition(":")
    plugins = {entry.plugin for entry in catalogue.entries("language_model")}
    if argument and offer in plugins and offer not in catalogue.names("language_model"):
        plugin, (offer, _, argument) = offer, argument.partition(":")
        offer = f"{plugin}:{offer}"
    entry = catalogue.find("language_model", offer)
    return entry, _configured(entry, argument, settings, name, whose)


def _configured(entry: Entry, argument: str, settings: Mapping[str, Json], name: str, whose: str) -> Any:
    """ARGUMENT goes into the field `source`; a model whose `source` has no default cannot do without it."""
    source = next((field for field in fields(entry.offer.config) if field.name == SOURCE_FIELD), None)
    given = {SOURCE_FIELD: argument, **settings} if argument else settings
    if argument and settings.get(SOURCE_FIELD, argument) != argument:
        got = f"got {settings[SOURCE_FIELD]!r}; drop one of them"
        raise ConfigError(f"model.{SOURCE_FIELD}: wanted {argument!r} as {whose} says, {got}")
    if argument and source is None:
        raise ConfigError(f"{whose}: wanted {entry.offer.name}, got {name!r}")
    if source is not None and source.default is MISSING and SOURCE_FIELD not in given:
        raise ConfigError(f"{whose}: wanted {entry.offer.name}:SOURCE, got {name!r}")
    return build(entry.offer.config, given, "model")
