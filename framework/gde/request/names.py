"""Language models and reward models that a configuration names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, get_type_hints

from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import NOTHING, Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.offers import ModelOffer, ModelReference, RewardReference
from gde.request.catalogue import Catalogue, Entry
from gde.request.kinds import KINDS, MODEL
from gde.request.settings import build_part, field_names, required_fields

ReferenceT = TypeVar("ReferenceT")
SOURCE_FIELD = "source"
"""The field of a model's configuration that takes the ARGUMENT of NAME:ARGUMENT."""
ALIAS = re.compile(r"[A-Za-z][\w-]*")
"""A user's own name for a language model."""
RESERVED = frozenset({"run", "study", *(kind.table for kind in KINDS.values())})
"""First words of settings that mean other parts."""
SERVER = re.compile(r"[@:](?P<url>https?://.*)$")
"""The address in NAME:ARGUMENT@URL, or in NAME:URL for a server of one model."""


def split_url(name: str) -> tuple[str, str]:
    """The name of a language model, and the address of its server; empty for none."""
    # Names of models may hold "@" too, and a URL only at its beginning a scheme.
    found = SERVER.search(name)
    return (name[: found.start()], found["url"]) if found else (name, "")


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


def models_by_name(
    models: Sequence[Choice], agent: str, agents_model: str
) -> dict[str, Choice]:
    """The configured language models of a plan, by the names that parts give them.

    Args:
        models: of the plan; one without a name configures the agent's model.
        agent: label of the agent, for messages.
        agents_model: the model that the agent's configuration names first, or empty.

    Raises:
        ConfigError: two models of one name, a name that means something else, or
        settings of the agent's model where the agent names none.
    """
    found: dict[str, Choice] = {}
    of_agents: dict[str, Json] = {}
    for choice in models:
        if not choice.name:
            of_agents.update(choice.config)
            continue
        if choice.alias:
            _check_alias(choice.alias)
        if choice.label in found:
            raise ConfigError(
                f"language model {choice.label!r} is listed twice; rename one"
            )
        found[choice.label] = choice

    if of_agents:
        if not agents_model:
            field = next(iter(of_agents))
            raise ConfigError(f"model.{field}: agent {agent!r} uses no language model")
        own = found.get(agents_model, Choice(name=agents_model))
        found[agents_model] = replace(own, config={**own.config, **of_agents})
    return found


def with_model_settings(plan: Plan, settings: Mapping[str, Mapping[str, Json]]) -> Plan:
    """The plan with further settings of models, by the names that parts give them."""
    models = list(plan.models)
    for label, values in settings.items():
        places = [i for i, one in enumerate(models) if split_url(one.label)[0] == label]
        if places and values:
            own = models[places[0]]
            models[places[0]] = replace(own, config={**own.config, **values})
        elif values:
            models.append(Choice(name=label, config=values))
    return replace(plan, models=tuple(models))


def _check_alias(alias: str) -> None:
    if not ALIAS.fullmatch(alias):
        raise ConfigError(
            f"language model {alias!r}: wanted a name of letters, digits, - and _, which begins with a letter"
        )
    if alias in RESERVED:
        raise ConfigError(
            f"language model {alias!r}: settings of that name are those of another part; take another name"
        )


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
    reference = references(type(config), ModelReference)[field]
    if offer.task and reference.any_question:
        wanted = "wanted a model that can be asked anything, e.g. hf:PATH_OR_ID or openai:MODEL@URL"
        raise ConfigError(
            f"{whose}: {wanted}, got {offer.name!r}, which was made for {offer.task} alone"
        )


def find_model(
    choice: Choice, catalogue: Catalogue, whose: str, how: Mapping[str, Json] = NOTHING
) -> tuple[Entry, Any]:
    """The offer of a named model and its typed configuration.

    Args:
        choice: its name is NAME, NAME:ARGUMENT or PLUGIN:NAME:ARGUMENT.
        catalogue: all offers.
        whose: the setting that names the model, for messages.
        how: values of the fields that say how it is asked.

    Raises:
        UnknownName: no plugin offers it, or a setting of it.
        ConfigError: an argument that it does not take, or none where it needs one, or
        an alias that is the name of another model.
    """
    if choice.alias in catalogue.names("language_model"):
        raise ConfigError(
            f"language model {choice.alias!r}: a model of that name exists already; take another name"
        )
    _, argument = _split(choice.name, catalogue)
    entry = model_entry(choice, catalogue)
    return entry, _configured(entry, argument, choice, whose, how)


def how_asked(
    choice: Choice, agents_model: str, how: How, catalogue: Catalogue
) -> dict[str, Json]:
    """How a model is asked: by the settings of the agent's model, and by its own.

    Raises:
        UnknownName: a setting of the agent's, whichever it is, that no model has.
    """
    own = how.settings.get(choice.label, {})
    common = how.settings.get(MODEL.table, {})
    if choice.label != agents_model or not common:
        return dict(own)

    entries = catalogue.entries(MODEL.name)
    known = {name for each in entries for name in field_names(each.offer.config)}
    for name in common:
        if name not in known:
            raise UnknownName(f"field of {MODEL.table}", name, known)
    fields = field_names(model_entry(choice, catalogue).offer.config)
    return {**{name: common[name] for name in common if name in fields}, **own}


def model_entry(choice: Choice, catalogue: Catalogue) -> Entry:
    """The offer of a named model.

    Raises:
        UnknownName: no plugin offers it.
    """
    offer, _ = _split(choice.name, catalogue)
    return catalogue.find("language_model", offer)


def _split(name: str, catalogue: Catalogue) -> tuple[str, str]:
    """The offer in NAME, NAME:ARGUMENT or PLUGIN:NAME:ARGUMENT, and the argument."""
    offer, _, argument = name.partition(":")

    # If a plugin has the name of its model, NAME:ARGUMENT wins over PLUGIN:NAME.
    plugins = {entry.plugin for entry in catalogue.entries("language_model")}
    models = catalogue.names("language_model")
    begins_with_plugin = offer in plugins and offer not in models
    if argument and begins_with_plugin:
        plugin = offer
        short_name, _, argument = argument.partition(":")
        offer = f"{plugin}:{short_name}"
    return offer, argument


def _configured(
    entry: Entry, argument: str, choice: Choice, whose: str, how: Mapping[str, Json]
) -> Any:
    """The model's configuration, with ARGUMENT in the field `source`."""
    config = entry.offer.config
    name = choice.name
    called = choice.alias or MODEL.table
    given = dict(choice.config)
    if argument:
        if SOURCE_FIELD not in field_names(config):
            raise ConfigError(f"{whose}: wanted {entry.offer.name}, got {name!r}")
        set_to = given.setdefault(SOURCE_FIELD, argument)
        if set_to != argument:
            conflict = f"wanted {argument!r} as {whose} says, got {set_to!r}"
            raise ConfigError(f"{called}.{SOURCE_FIELD}: {conflict}; drop one of them")

    if SOURCE_FIELD in required_fields(config) and SOURCE_FIELD not in given:
        raise ConfigError(f"{whose}: wanted {entry.offer.name}:SOURCE, got {name!r}")
    return build_part(config, replace(choice, config=given), how, called)
