"""Entrants of a contest: agents, models and settings of theirs that are to be held against one another.

What a user writes for several agents at once becomes one plan for each, alike in everything else, so that all of them
meet the same worlds.
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
from gde.request.model_names import find_model, model_names, names_models
from gde.request.planfile import listed_agents
from gde.request.resolve import resolve
from gde.request.settings import build, field_names, parse_settings, sweep

AGENT, MODEL = KINDS["agent"].table, "model"
ODD = re.compile(r"[^\w.=+-]+")
"""What a folder had better not be called by."""
OPTIONAL = ("probes", "metrics")
"""Parts of a plan that an entrant who cannot feed them goes without."""


def entrants(wanted: Wanted, catalogue: Catalogue) -> dict[str, Plan]:
    """A plan for each entrant by its name; a single one where one agent is asked for as it is.

    Several agents are named with commas in between, or listed in a plan file as `[[agent]]`; several values of a field
    of theirs or of their language model with commas as well; all are crossed. A setting is for those agents that have
    the field. A probe or metric that an entrant cannot feed is left out for this one, if another can.

    Raises:
        ConfigError: no environment, no agent, two entrants that are the same, or a setting that cannot be read.
        UnknownName: a name that does not exist, or a field that none of the agents has.
    """
    asked = _asked(wanted)
    plans = _each(asked, catalogue) if len(asked) > 1 else [build_plan(asked[0][1] if asked else wanted)]
    found: dict[str, Plan] = {}
    for plan in plans:
        for varied, one in _variations(plan, catalogue):
            name = ODD.sub("-", "-".join([plan.agent.label, *varied])).strip("-.")
            if name in found:
                advice = f"call one otherwise, --agent OTHER={plan.agent.name}"
                raise ConfigError(f"agent {name!r} is asked for twice: {advice}")
            found[name] = one
    return _fed(found, catalogue) if len(found) > 1 else found


def _asked(wanted: Wanted) -> list[tuple[str, Wanted]]:
    """The offer of each agent, and what is asked for of it."""
    names = [each.strip() for name in wanted.names.get(AGENT, ()) for each in name.split(",")]
    if names and not all(names):
        raise ConfigError(f"--agent: wanted names with commas in between, got {','.join(wanted.names[AGENT])!r}")
    if wanted.file is not None and not names:
        return [(name, replace(wanted, listed=i)) for i, name in enumerate(listed_agents(wanted.file))]
    return [(choose(name).name, replace(wanted, names={**wanted.names, AGENT: [name]})) for name in names]


def _each(asked: Sequence[tuple[str, Wanted]], catalogue: Catalogue) -> list[Plan]:
    """The plan of each of several agents, with those settings that mean something to it."""
    configs = [catalogue.find("agent", name).offer.config for name, _ in asked]
    for field in parse_settings(asked[0][1].settings).get(AGENT, {}):
        if not any(field in field_names(config) for config in configs):
            known = dict.fromkeys(each for config in configs for each in field_names(config))
            raise UnknownName("field of agent", field, list(known))
    anybody = any(map(names_models, configs))
    return [_alone(one, config, anybody) for (_, one), config in zip(asked, configs, strict=True)]


def _alone(wanted: Wanted, config: type[Any], anybody: bool) -> Plan:
    """The plan of one of several agents; where another asks a language model and it does not, without one."""
    mute = anybody and not names_models(config)
    kept = {AGENT: field_names(config), MODEL: () if mute else None}
    plan = build_plan(replace(wanted, settings=[each for each in wanted.settings if _concerns(each, kept)]))
    return replace(plan, language_model={}) if mute else plan


def _concerns(setting: str, kept: Mapping[str, Sequence[str] | None]) -> bool:
    part, _, rest = setting.partition("=")[0].strip().partition(".")
    known = kept.get(part)
    return known is None or rest in known


def _variations(plan: Plan, catalogue: Catalogue) -> Iterator[tuple[list[str], Plan]]:
    """The crossing of all values of the agent and its model, each with what it varies."""
    agent = plan.agent
    if agent.part is not None or agent.name.startswith(OBJECT):
        yield [], plan
        return
    offer = catalogue.find("agent", agent.name).offer
    for varied, config in _crossed(offer.config, agent.config, AGENT):
        one = replace(plan, agent=replace(agent, config=config)) if varied else plan
        for more, settings in _of_model(one, build(offer.config, config, AGENT), catalogue):
            yield [*varied, *more], replace(one, language_model=settings) if more else one


def _of_model(plan: Plan, config: Any, catalogue: Catalogue) -> Iterator[tuple[list[str], Mapping[str, Json]]]:
    name = next(iter(model_names(config).values()), "")
    if not name or not plan.language_model:
        yield [], plan.language_model
        return
    # What it needs beside is checked where the plan is resolved.
    model = find_model(name, catalogue, {}, f"{AGENT}.{MODEL}")[0].offer
    yield from _crossed(model.config, plan.language_model, MODEL)


def _crossed(
    config: type[Any], values: Mapping[str, Json], whose: str
) -> Iterator[tuple[list[str], Mapping[str, Json]]]:
    """Each combination of values, with the text of those that are one of several."""
    alternatives = sweep(config, values, whose)
    for combination in product(*alternatives.values()):
        chosen = dict(zip(alternatives, combination, strict=True))
        yield [str(chosen[name]) for name, each in alternatives.items() if len(each) > 1], chosen


def _fed(plans: Mapping[str, Plan], catalogue: Catalogue) -> dict[str, Plan]:
    """The plans without the probes and metrics that only others can feed."""
    unfed = {name: _unfed(plan, catalogue) for name, plan in plans.items()}
    nobody = frozenset.intersection(*unfed.values())
    return {name: _without(plan, unfed[name] - nobody) for name, plan in plans.items()}


def _unfed(plan: Plan, catalogue: Catalogue) -> frozenset[str]:
    if not any(getattr(plan, field) for field in OPTIONAL):
        return frozenset()
    ready = resolve(plan, catalogue)
    parts = (part for field in OPTIONAL for part in getattr(ready, field))
    return frozenset(part.label for part in parts if lacking(part, ready, ready.gives))


def _without(plan: Plan, labels: frozenset[str]) -> Plan:
    kept: dict[str, tuple[Choice, ...]] = {
        field: tuple(choice for choice in getattr(plan, field) if choice.label not in labels) for field in OPTIONAL
    }
    return replace(plan, **kept)  # type: ignore[arg-type]
