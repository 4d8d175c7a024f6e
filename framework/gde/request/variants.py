"""Several agents, models or settings in one request: one plan for each, alike in everything else.

All of them meet the same worlds, so that they can be compared.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from gde.data.json import Json
from gde.data.plan import OBJECT, Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.building import Wanted, build_plan, choose
from gde.request.catalogue import Catalogue
from gde.request.check import lacking
from gde.request.kinds import KINDS
from gde.request.names import find_model, model_names, names_models
from gde.request.planfile import listed_agents
from gde.request.resolve import resolve
from gde.request.settings import build, field_names, parse_settings, sweep

AGENT = KINDS["agent"].table
MODEL = "model"
ODD = re.compile(r"[^\w.=+-]+")
"""Characters that the name of a folder had better not have."""
OPTIONAL = ("probes", "metrics")
"""Fields of a plan whose parts are left out for an agent that gives them nothing to work on."""
Variant = tuple[list[str], Mapping[str, Json]]
"""The values that tell one configuration from the others, as text, and the configuration."""


def variants(wanted: Wanted, catalogue: Catalogue) -> dict[str, Plan]:
    """One plan for each agent by its name; a single plan where one agent is asked for.

    Several agents are named with commas in between, or listed in a plan file as `[[agent]]`. Several values of a field
    of an agent or its language model have commas in between; all are crossed. A setting applies to those agents that
    have the field. A probe or metric that one agent gives nothing to work on is left out for that one, if another
    agent can have it.

    Raises:
        ConfigError: no environment, no agent, two agents that are the same, or a setting that cannot be read.
        UnknownName: a name that does not exist, or a field that none of the agents has.
    """
    asked = _asked(wanted)
    plans = _plans(asked, catalogue) if len(asked) > 1 else [build_plan(asked[0][1] if asked else wanted)]
    found: dict[str, Plan] = {}
    for plan in plans:
        for values, one in _crossed_agent(plan, catalogue):
            name = ODD.sub("-", "-".join([plan.agent.label, *values])).strip("-.")
            if name in found:
                advice = f"call one otherwise, --agent OTHER={plan.agent.name}"
                raise ConfigError(f"agent {name!r} is asked for twice: {advice}")
            found[name] = one
    return _without_unfed(found, catalogue) if len(found) > 1 else found


def _asked(wanted: Wanted) -> list[tuple[str, Wanted]]:
    """The offer of each agent, and the request for it alone."""
    names = []
    for listed in wanted.names.get(AGENT, ()):
        names += [name.strip() for name in listed.split(",")]
    if not all(names):
        raise ConfigError(f"--agent: wanted names with commas in between, got {','.join(wanted.names[AGENT])!r}")
    if names:
        return [(choose(name).name, replace(wanted, names={**wanted.names, AGENT: [name]})) for name in names]
    if wanted.file is None:
        return []
    return [(name, replace(wanted, listed=i)) for i, name in enumerate(listed_agents(wanted.file))]


def _plans(asked: Sequence[tuple[str, Wanted]], catalogue: Catalogue) -> list[Plan]:
    """The plan of each of several agents, with the settings that the agent has."""
    configs = [catalogue.find("agent", name).offer.config for name, _ in asked]
    known: dict[str, None] = {}
    for config in configs:
        known.update(dict.fromkeys(field_names(config)))
    for field in parse_settings(asked[0][1].settings).get(AGENT, {}):
        if field not in known:
            raise UnknownName("field of agent", field, list(known))

    # An agent without a model has no use for model settings that are meant for another agent.
    any_model = any(map(names_models, configs))
    plans = []
    for (_, wanted), config in zip(asked, configs, strict=True):
        kept: dict[str, Sequence[str]] = {AGENT: field_names(config)}
        mute = any_model and not names_models(config)
        if mute:
            kept[MODEL] = ()
        settings = [setting for setting in wanted.settings if _concerns(setting, kept)]
        plan = build_plan(replace(wanted, settings=settings))
        plans.append(replace(plan, language_model={}) if mute else plan)
    return plans


def _concerns(setting: str, kept: Mapping[str, Sequence[str]]) -> bool:
    """Whether a setting is of a field that is kept, or of another part."""
    part, _, field = setting.partition("=")[0].strip().partition(".")
    return part not in kept or field in kept[part]


def _crossed_agent(plan: Plan, catalogue: Catalogue) -> Iterator[tuple[list[str], Plan]]:
    """The plan with each combination of values of the agent and its model, and the values that vary."""
    agent = plan.agent
    if agent.part is not None or agent.name.startswith(OBJECT):
        yield [], plan
        return
    config = catalogue.find("agent", agent.name).offer.config
    for values, chosen in _crossed(config, agent.config, AGENT):
        one = replace(plan, agent=replace(agent, config=chosen)) if values else plan
        for more, settings in _crossed_model(one, build(config, chosen, AGENT), catalogue):
            yield [*values, *more], replace(one, language_model=settings) if more else one


def _crossed_model(plan: Plan, config: Any, catalogue: Catalogue) -> Iterator[Variant]:
    """The combinations of values of the model that the agent's configuration names first."""
    name = next(iter(model_names(config).values()), "")
    if not name or not plan.language_model:
        yield [], plan.language_model
        return

    # Missing settings are found where the plan is resolved.
    entry, _ = find_model(name, catalogue, {}, f"{AGENT}.{MODEL}")
    yield from _crossed(entry.offer.config, plan.language_model, MODEL)


def _crossed(config: type[Any], values: Mapping[str, Json], whose: str) -> Iterator[Variant]:
    """Each combination of values, with the text of those that are one of several."""
    alternatives = sweep(config, values, whose)
    swept = [name for name, each in alternatives.items() if len(each) > 1]
    for combination in product(*alternatives.values()):
        chosen = dict(zip(alternatives, combination, strict=True))
        yield [str(chosen[name]) for name in swept], chosen


def _without_unfed(plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[str, Plan]:
    """The plans without the probes and metrics that only other agents can have."""
    unfed = {name: _unfed(plan, catalogue) for name, plan in plans.items()}

    # A part that no agent can have stays, so that `check` says what it lacks.
    by_all = frozenset.intersection(*unfed.values())
    return {name: _without(plan, unfed[name] - by_all) for name, plan in plans.items()}


def _unfed(plan: Plan, catalogue: Catalogue) -> frozenset[str]:
    """The labels of the probes and metrics that lack something in this plan."""
    if not any(getattr(plan, field) for field in OPTIONAL):
        return frozenset()
    ready = resolve(plan, catalogue)
    return frozenset(part.label for part in (*ready.probes, *ready.metrics) if lacking(part, ready, ready.gives))


def _without(plan: Plan, labels: frozenset[str]) -> Plan:
    kept: dict[str, Any] = {}
    for field in OPTIONAL:
        choices: Sequence[Choice] = getattr(plan, field)
        kept[field] = tuple(choice for choice in choices if choice.label not in labels)
    return replace(plan, **kept)
