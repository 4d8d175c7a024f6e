"""Several agents, models or settings in one request: one plan for each.

All of them meet the same worlds, so that they can be compared.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError, UnknownName
from gde.request.building import Wanted, build_plan, choose, choose_model
from gde.request.catalogue import Catalogue
from gde.request.check import lacking
from gde.request.kinds import KINDS, MODEL
from gde.request.models import model_entry, models_by_name
from gde.request.names import model_names, names_models, split_url
from gde.request.planfile import read_plans
from gde.request.refusing import refuse_how
from gde.request.resolve import resolve
from gde.request.settings import build, combinations, field_names

AGENT = KINDS["agent"].table
ODD = re.compile(r"[^\w.=+-]+")
"""Characters that are replaced in the name of a folder."""
OPTIONAL = ("probes", "metrics")
"""Fields of a plan whose parts are left out for an agent that gives them nothing to
work on.
"""
Variant = tuple[list[str], Mapping[str, Json]]
"""The values that tell one configuration from the others, as text, and the
configuration.
"""


def variants(
    wanted: Wanted, catalogue: Catalogue, file: Path | None = None
) -> dict[str, Plan]:
    """Make one plan for each agent, by its name.

    A request for one agent gives a single plan.

    Several agents are named with commas in between, or listed in a plan file as
    `[[agent]]`. Several values of a field of an agent or its language model have commas
    in between; all are crossed. A setting applies to those agents that have the field.
    A probe or metric that one agent gives nothing to work on is left out for that one,
    if another agent can have it.

    Raises:
        ConfigError: no environment, no agent, two agents that are the same, or a
            setting that cannot be read.
        UnknownName: a name that does not exist, or a field that none of the agents has.
    """
    in_file = [] if file is None else read_plans(file)
    for plan in in_file:
        refuse_how(plan, catalogue, f"plan {file}")

    found: dict[str, Plan] = {}
    for plan in _plans(_asked(wanted, in_file), catalogue):
        for values, one in _crossed_agent(plan, catalogue):
            label = "-".join([plan.agent.label, *values])
            name = ODD.sub("-", label).strip("-.")
            if name in found:
                advice = f"rename one: OTHER={plan.agent.name}"
                raise ConfigError(f"agent {name!r} is listed twice: {advice}")
            found[name] = one

    _check_used(wanted, found.values())
    if len(found) < 2:
        return found
    return _without_unfed(found, catalogue)


def _asked(wanted: Wanted, in_file: Sequence[Plan]) -> list[Wanted]:
    """The request for each agent alone."""
    if not wanted.names.get(AGENT):
        return [replace(wanted, plan=plan) for plan in in_file] or [wanted]

    # Of several plans in a file, which differ in their agents, any one will do.
    plan = in_file[0] if in_file else None
    asked = []
    listed = ",".join(wanted.names[AGENT])
    for name in map(str.strip, listed.split(",")):
        if not name:
            raise ConfigError(
                f"--agent: wanted names with commas in between, got {listed!r}"
            )
        names = {**wanted.names, AGENT: [name]}
        asked.append(replace(wanted, names=names, plan=plan))
    return asked


def _plans(asked: Sequence[Wanted], catalogue: Catalogue) -> list[Plan]:
    """The plan of each agent, with the settings that the agent has, before their values
    are crossed.
    """
    if len(asked) == 1:
        return [build_plan(asked[0])]
    configs = []
    for wanted in asked:
        agent = _agent_of(wanted)
        configs.append(catalogue.find("agent", agent).offer.config)
    known = list(chain.from_iterable(map(field_names, configs)))

    # A setting that no agent has is a mistake; one that some agent has is left out for
    # the others.
    settings_of_agents = asked[0].settings.get(AGENT, {})
    UnknownName.check("field of agent", settings_of_agents, set(known))

    any_asks_model = any(names_models(config) for config in configs)
    plans = []
    for wanted, config in zip(asked, configs, strict=True):
        kept: dict[str, Sequence[str]] = {AGENT: field_names(config)}
        # An agent without a model has no use for model settings that are meant for
        # another agent.
        drops_model = any_asks_model and not names_models(config)
        if drops_model:
            kept[MODEL.table] = ()

        settings = {}
        for part, values in wanted.settings.items():
            fields = kept.get(part, values)
            settings[part] = {name: values[name] for name in values if name in fields}
        plan = build_plan(replace(wanted, settings=settings))
        if drops_model:
            named = tuple(choice for choice in plan.models if choice.name)
            plan = replace(plan, models=named)
        plans.append(plan)
    return plans


def _agent_of(wanted: Wanted) -> str:
    """The offer of the agent of a request."""
    if names := wanted.names.get(AGENT):
        return choose(names[0]).name
    assert wanted.plan is not None
    return wanted.plan.agent.name


def _crossed_agent(
    plan: Plan, catalogue: Catalogue
) -> Iterator[tuple[list[str], Plan]]:
    """The plan with each combination of values of the agent and its model.

    Each comes with the values that vary.
    """
    agent = plan.agent
    if agent.is_object:
        yield [], plan
        return

    config = catalogue.find("agent", agent.name).offer.config
    if MODEL.table in agent.config and not names_models(config):
        raise ConfigError(
            f"agent {agent.name!r} uses no language model: leave out the model, or see `gde list agents`"
        )
    for values, chosen in _crossed(config, agent.config, AGENT):
        # A plan in which nothing varies keeps its values as they were written.
        one = plan
        if values:
            one = replace(plan, agent=replace(agent, config=chosen))

        configured = build(config, chosen, AGENT)
        for model_values, models in _crossed_model(one, configured, catalogue):
            if model_values:
                yield [*values, *model_values], replace(one, models=models)
            else:
                yield values, one


def _crossed_model(
    plan: Plan, config: Any, catalogue: Catalogue
) -> Iterator[tuple[list[str], tuple[Choice, ...]]]:
    """The models with each combination of values of the agent's first-named one."""
    name = next(iter(model_names(config).values()), "")
    by_name = models_by_name(plan.models, plan.agent.label, name)
    own = by_name.get(name)
    if own is None or not own.config:
        yield [], plan.models
        return

    entry, _ = model_entry(own, catalogue)
    called = own.alias or MODEL.table
    for values, chosen in _crossed(entry.offer.config, own.config, called):
        varied = {**by_name, name: replace(own, config=chosen)}
        yield values, tuple(varied.values())


def _crossed(
    config: type[Any], values: Mapping[str, Json], whose: str
) -> Iterator[Variant]:
    """Each combination of values, with the text of those that are one of several."""
    swept, each = combinations(config, values, whose)
    for chosen in each:
        # Of a served model, the address is no difference.
        texts = [split_url(str(chosen[name]))[0] for name in swept]
        yield texts, chosen


def _check_used(wanted: Wanted, plans: Collection[Plan]) -> None:
    """Refuse a model that the user named, but that no part asks.

    Raises:
        ConfigError: there is one.
    """
    asked: set[Json] = set()
    for plan in plans:
        parts = (plan.agent, *plan.rewards, *plan.probes, *plan.metrics)
        asked.update(
            value
            for part in parts
            for value in part.config.values()
            if isinstance(value, str)
        )
    for text in wanted.names.get(MODEL.table, ()):
        alias = choose_model(text).alias
        if alias and alias not in asked:
            raise ConfigError(
                f"--model {alias}: no part asks this model; for the agent, --set {AGENT}.{MODEL.table}={alias}"
            )


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
    return frozenset(
        part.label
        for part in (*ready.probes, *ready.metrics)
        if lacking(part, ready, ready.gives)
    )


def _without(plan: Plan, labels: frozenset[str]) -> Plan:
    kept: dict[str, Any] = {}
    for field in OPTIONAL:
        choices: Sequence[Choice] = getattr(plan, field)
        kept[field] = tuple(choice for choice in choices if choice.label not in labels)
    return replace(plan, **kept)
