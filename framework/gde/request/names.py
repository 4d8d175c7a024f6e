"""Language models and reward models that a configuration names."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, get_type_hints

from gde.offers import ModelReference, RewardReference

ConfigT = TypeVar("ConfigT")
ReferenceT = TypeVar("ReferenceT")
SERVER = re.compile(r"[@:](?P<url>https?://.*)$")
"""The address in NAME:ARGUMENT@URL, or in NAME:URL for a server of one model."""


def split_url(name: str) -> tuple[str, str]:
    """The name of a language model, and the address of its server; empty for none."""
    # Names of models may hold "@" too, and a URL only at its beginning a scheme.
    found = SERVER.search(name)
    return (name[: found.start()], found["url"]) if found else (name, "")


def without_servers(config: ConfigT) -> tuple[ConfigT, Mapping[str, str]]:
    """A configuration without addresses behind names of models, and these by model."""
    bare: dict[str, Any] = {}
    urls: dict[str, str] = {}
    for field, named in model_names(config).items():
        name, url = split_url(named)
        if url:
            bare[field] = name
            urls[name] = url
    return (replace(config, **bare) if bare else config), urls  # type: ignore[type-var]


def model_names(config: object) -> dict[str, str]:
    """The language models that a configuration names, by field, without empty ones."""
    return _named(config, ModelReference)


def weights_name(config: object) -> str:
    """The language model by which a part reads activations; empty for the agent's."""
    field = weights_field(type(config))
    return str(getattr(config, field)) if field else ""


def weights_field(config: type[Any]) -> str:
    """The field of a configuration that names such weights; empty for none."""
    for field, reference in references(config, ModelReference).items():
        if reference.weights:
            return field
    return ""


def reward_names(config: object) -> dict[str, str]:
    """The reward models that a configuration names, by field, without empty ones."""
    return _named(config, RewardReference)


def names_models(config: type[Any]) -> bool:
    """Whether configurations of this class can name a language model."""
    return bool(references(config, ModelReference))


def _named(config: object, reference: type) -> dict[str, str]:
    named = {
        field: getattr(config, field) for field in references(type(config), reference)
    }
    return {field: name for field, name in named.items() if name}


def references(config: type[Any], reference: type[ReferenceT]) -> dict[str, ReferenceT]:
    """The references among the annotations of a configuration, by field."""
    found: dict[str, ReferenceT] = {}
    hints = get_type_hints(config, include_extras=True)
    for field, hint in hints.items():
        annotations = getattr(hint, "__metadata__", ())
        for annotation in annotations:
            if isinstance(annotation, reference):
                found.setdefault(field, annotation)
    return found
