"""The language models of a plan: those that its parts name, and how they are asked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gde.data.how import URL, How
from gde.data.json import Json
from gde.data.plan import NOTHING, Choice, Plan
from gde.errors import ConfigError, GdeError, UnknownName
from gde.offers import ModelOffer, ModelReference
from gde.request.catalogue import Catalogue, Entry
from gde.request.finding import Finder, chosen
from gde.request.kinds import KINDS, MODEL
from gde.request.names import model_names, references, split_url, weights_field
from gde.request.objects import object_entry
from gde.request.ready import Chosen, first_model
from gde.request.settings import build_part, field_names, required_fields

SOURCE_FIELD = "source"
"""The field of a model's configuration that takes the ARGUMENT of NAME:ARGUMENT."""
ALIAS = re.compile(r"[A-Za-z][\w-]*")
"""A user's own name for a language model."""
RESERVED = frozenset({"run", "study", *(kind.table for kind in KINDS.values())})
"""First words of settings that mean other parts."""


def find_models(
    find: Finder, parts: Sequence[Chosen], configured: Sequence[Choice]
) -> dict[str, Chosen]:
    """The language models that the parts name, by name.

    Args:
        find: finds the offers.
        parts: the agent first, where there is one.
        configured: the models of the plan. Those that no part names are left out.

    Raises:
        ConfigError: a name that means two models, or one that is asked at two
            addresses.
    """
    agent = parts[0]
    own = first_model(agent) if agent.kind == "agent" else ""
    if agent.absent:
        configured = [choice for choice in configured if choice.name]
    configured, urls = _without_servers(parts, configured)
    known = models_by_name(configured, agent.label, own)
    found: dict[str, Chosen] = {}
    for part in parts:
        for named, name in model_names(part.config).items():
            whose = f"{part.whose}.{named}"
            if name not in found:
                choice = known.get(name, Choice(name=name))
                asked = how_asked(choice, own, find.how, find.catalogue)
                if name in urls:
                    asked[URL] = urls[name]
                try:
                    offered = find_model(choice, find.catalogue, whose, asked)
                    found[name] = chosen(MODEL.name, choice, *offered)
                except GdeError as error:
                    found[name] = find.stand_in(MODEL.name, choice, error)
            if not find.absent:
                check_task(part.config, named, found[name].entry, whose)
    return found


def _without_servers(
    parts: Sequence[Chosen], configured: Sequence[Choice]
) -> tuple[list[Choice], dict[str, str]]:
    """The models of a plan without addresses behind their names, and all addresses."""
    told = [item for part in parts for item in part.servers.items()]
    choices = []
    for choice in configured:
        bare, url = split_url(choice.name)
        choices.append(replace(choice, name=bare))
        if url:
            told.append((choice.alias or bare, url))
    urls: dict[str, str] = {}
    for name, url in told:
        known = urls.setdefault(name, url)
        if known != url:
            raise ConfigError(
                f"language model {name!r} is asked at {known} and at {url}: give each a name of its own, e.g."
                f" first={name}@{known}"
            )
    return choices, urls


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
        if choice.part is not None:
            object_entry(MODEL.name, choice)
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


def with_weights(
    plans: Mapping[str, Plan], weights: str, catalogue: Catalogue
) -> dict[str, Plan]:
    """The plans with these local weights in every probe and metric that reads
    activations and names none of its own; as they are where `weights` is empty.

    Raises:
        ConfigError: none takes weights.
    """
    if not weights:
        return dict(plans)
    find = Finder(catalogue)
    found = {}
    takers = 0
    for name, plan in plans.items():
        given: dict[str, tuple[Choice, ...]] = {}
        for kind, choices in (("probe", plan.probes), ("metric", plan.metrics)):
            parts = []
            for choice in choices:
                config = find.entry(kind, choice).offer.config
                own = dict(choice.config)
                if field := weights_field(config):
                    takers += 1
                    own = {field: weights, **own}
                parts.append(replace(choice, config=own))
            given[f"{kind}s"] = tuple(parts)
        found[name] = replace(plan, probes=given["probes"], metrics=given["metrics"])
    if not takers:
        raise ConfigError("weights: no probe reads activations; add one")
    return found


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
    entry, argument = model_entry(choice, catalogue)
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

    entry, _ = model_entry(choice, catalogue)
    entries = catalogue.entries(MODEL.name)
    known = {name for each in entries for name in field_names(each.offer.config)}
    UnknownName.check(f"field of {MODEL.table}", common, known)
    fields = field_names(entry.offer.config)
    return {**{name: common[name] for name in common if name in fields}, **own}


def model_entry(choice: Choice, catalogue: Catalogue) -> tuple[Entry, str]:
    """The offer of a named model and the argument in NAME, NAME:ARGUMENT or
    PLUGIN:NAME:ARGUMENT; that of an object without one.

    Raises:
        UnknownName: no plugin offers it.
        GdeError: it is an object that is not here.
    """
    if choice.is_object:
        return object_entry(MODEL.name, choice), ""
    offer, _, argument = choice.name.partition(":")

    # If a plugin has the name of its model, NAME:ARGUMENT wins over PLUGIN:NAME.
    plugins = {entry.plugin for entry in catalogue.entries(MODEL.name)}
    if argument and offer in plugins and offer not in catalogue.names(MODEL.name):
        short_name, _, argument = argument.partition(":")
        offer = f"{offer}:{short_name}"
    return catalogue.find(MODEL.name, offer), argument


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

    required = required_fields(config)
    if "@" in argument and URL in required and URL not in {*how, *given}:
        wanted = (
            f"{entry.offer.name}:MODEL@URL, whose URL begins with http:// or https://"
        )
        raise ConfigError(f"{whose}: wanted {wanted}, got {name!r}")
    if SOURCE_FIELD in required and SOURCE_FIELD not in given:
        raise ConfigError(f"{whose}: wanted {entry.offer.name}:SOURCE, got {name!r}")
    return build_part(config, replace(choice, config=given), how, called)
