"""From a plan to parts that are ready to be made, with the defaults for what it leaves open."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gde.data.plan import Choice, Plan
from gde.errors import ConfigError
from gde.offers import Facet, MetricOffer
from gde.request.catalogue import Catalogue
from gde.request.kinds import KINDS, SEVERAL, Kind
from gde.request.lookup import Chosen, Lookup, Stratum
from gde.request.model_names import model_names
from gde.request.plugins import load_plugins
from gde.request.settings import dump

LABEL = re.compile(r"[^\s/\\\0]+")
FRAMEWORK = "gde-eval"
"""The distribution whose defaults every run takes."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A plan whose every part is known. `check.check` says whether the parts fit together."""

    plan: Plan
    """With every configuration complete, defaults included."""
    catalogue: Catalogue
    strata: tuple[Stratum, ...]
    agent: Chosen
    models: Mapping[str, Chosen]
    """Every language model that a part names in its configuration, by that name."""
    judges: Mapping[str, Chosen]
    """Every reward model that a part names in its configuration, by that name."""
    probes: tuple[Chosen, ...]
    rewards: tuple[Chosen, ...]
    metrics: tuple[Chosen, ...]
    reporters: tuple[Chosen, ...]
    executor: Chosen

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds the same plugins again and resolves the same plan. Of the caller's own parts only
        those that episodes need are pickled."""
        plugins = self.catalogue.plugins
        return _rebuilt, (_for_episodes(self.plan, self.judges), plugins.disabled, plugins.modules)

    @property
    def environment(self) -> Chosen:
        """That of the first stratum: offer and name are those of all."""
        return self.strata[0].environment

    @property
    def agent_model(self) -> str:
        """The language model that the agent's configuration names first; empty for an agent that names none."""
        return next(iter(model_names(self.agent.config).values()), "")

    @property
    def parts(self) -> Iterator[Chosen]:
        """Every part, the language models after the agent."""
        yield from (self.environment, self.agent, *self.models.values(), self.executor)
        yield from (*self.probes, *self.rewards, *self.metrics, *self.reporters)
        yield from (part for part in self.judges.values() if part not in self.rewards)

    @property
    def gives(self) -> frozenset[str]:
        """What environment, agent, its language model and reward models give to the other parts."""
        environment, agent = self.environment.entry.offer.gives, self.agent.entry.offer.gives
        model = self.models[self.agent_model].entry.offer.gives if self.agent_model else frozenset()
        of_model = {Facet.ACTIVATIONS, Facet.INTERVENTIONS}
        given = implied(environment | (agent - of_model) | (agent & model & of_model))
        return given | ({Facet.REWARD_TRACE} if self.rewards else frozenset())


def implied(given: frozenset[str]) -> frozenset[str]:
    """The facets with those that follow from them."""
    given |= {Facet.OPTIMUM} if Facet.MDP in given else frozenset()
    return given | ({Facet.TRUE_REWARD} if Facet.OPTIMUM in given else frozenset())


def resolve(plan: Plan, catalogue: Catalogue, absent: bool = False) -> Ready:
    """Look up and configure every part of a plan.

    Args:
        plan: what is asked for.
        catalogue: what there is.
        absent: whether parts that are not installed here may stand in the plan, to read a run that was made with them.

    Raises:
        UnknownName: a name or a field that does not exist.
        ConfigError: a value out of range.
    """
    look = Lookup(catalogue, absent)
    strata, environment = look.strata(plan.environment)
    agent, executor = look.chosen("agent", plan.agent), look.chosen("executor", plan.executor)
    several: dict[str, tuple[Chosen, ...]] = {}
    choices: dict[str, tuple[Choice, ...]] = {}
    for kind in SEVERAL:
        asked = _grouped(getattr(plan, kind.field), kind, catalogue)
        several[kind.field] = tuple(look.chosen(kind.name, choice) for choice in asked)
        choices[kind.field] = _completed(several[kind.field], asked)
        _check_labels(kind, several[kind.field])
    parts = [agent, *(part for chosen in several.values() for part in chosen)]
    judges = look.judges(parts, several["rewards"])
    models = look.models([*parts, *judges.values()], plan.language_model)
    named = next(iter(model_names(agent.config).values()), "")
    complete = replace(
        plan,
        environment=environment,
        agent=agent.choice(plan.agent),
        executor=executor.choice(plan.executor),
        language_model=dump(models[named].config) if named and not models[named].absent else dict(plan.language_model),
        **choices,  # type: ignore[arg-type]
    )
    ready = Ready(
        plan=complete,
        catalogue=catalogue,
        strata=strata,
        agent=agent,
        models=models,
        judges=judges,
        executor=executor,
        **several,
    )
    for kind in (KINDS["metric"], KINDS["reporter"]):
        ready = ready if getattr(plan, kind.field) else _with_defaults(ready, kind, look)
    for kind in SEVERAL:
        ready = _without_misfits(ready, kind, getattr(plan, kind.field))
    return ready


def _completed(chosen: tuple[Chosen, ...], asked: tuple[Choice, ...]) -> tuple[Choice, ...]:
    return tuple(part.choice(choice) for part, choice in zip(chosen, asked, strict=True))


def _grouped(choices: tuple[Choice, ...], kind: Kind, catalogue: Catalogue) -> tuple[Choice, ...]:
    """The choices, with the offers of a group in the place of its name."""
    by_name, found = {choice.name for choice in choices}, list[Choice]()
    for choice in choices:
        names = (choice.name,) if choice.part is not None else catalogue.named(kind.name, choice.name)
        if names == (choice.name,):
            found.append(choice)
        elif choice.config or choice.alias:
            listed = ", ".join(names)
            raise ConfigError(f"{kind.title} {choice.label!r}: a group is neither renamed nor set; ask for {listed}")
        else:
            found += [Choice(name=name) for name in names if name not in by_name]
    return tuple(found)


def _check_labels(kind: Kind, chosen: tuple[Chosen, ...]) -> None:
    """They are told apart by them, and files are named by them."""
    labels = [part.label for part in chosen]
    if odd := [label for label in labels if not LABEL.fullmatch(label)]:
        raise ConfigError(f"{kind.title} {odd[0]!r}: wanted a name without blanks and slashes to call it by")
    if repeated := sorted({label for label in labels if labels.count(label) > 1}):
        advice = f"call one of them otherwise: --{kind.table} OTHER={repeated[0]}, or Choice.of(part, 'OTHER')"
        raise ConfigError(f"{kind.title} {repeated[0]!r} is asked for twice; {advice}")


def _with_defaults(ready: Ready, kind: Kind, look: Lookup) -> Ready:
    """Without a choice, the default parts of the framework and of the distributions that the plan takes parts from, as
    far as their needs are met and their packages are there. What else is installed plays no part."""
    homes = {FRAMEWORK, *(part.entry.distribution for part in ready.parts)}
    found = [
        entry
        for entry in ready.catalogue.entries(kind.name)
        if entry.offer.default
        and entry.distribution in homes
        and entry.offer.needs <= ready.gives
        and not entry.offer.missing()
    ]
    known = ready.catalogue.names(kind.name)
    asked = tuple(
        Choice(name=name) if name in known else Choice(name=entry.qualified, alias=name)
        for entry in found
        for name in (entry.offer.name,)
    )
    chosen: dict[str, Any] = {kind.field: tuple(look.chosen(kind.name, choice) for choice in asked)}
    plan: dict[str, Any] = {kind.field: _completed(chosen[kind.field], asked)}
    return replace(ready, **chosen, plan=replace(ready.plan, **plan))


def _for_episodes(plan: Plan, judges: Collection[str]) -> Plan:
    def needed(choice: Choice, kind: Kind) -> bool:
        return choice.part is None or (kind.name == "reward_model" and choice.label in judges)

    several: dict[str, Any] = {
        kind.field: tuple(choice for choice in getattr(plan, kind.field) if needed(choice, kind)) for kind in SEVERAL
    }
    return replace(plan, executor=Choice(name="serial", config={}), **several)


def _without_misfits(ready: Ready, kind: Kind, asked: tuple[Choice, ...]) -> Ready:
    """Of a group that is asked for by its name, what fits the run; all of it where nothing does, for `check` to say
    why."""
    by_name = {choice.name for choice in asked}
    parts: tuple[Chosen, ...] = getattr(ready, kind.field)
    of_groups = []
    for part in parts:
        offer = part.entry.offer
        if isinstance(offer, MetricOffer) and offer.group in by_name and part.name not in by_name:
            of_groups.append(part)
    misfits = [part for part in of_groups if part.needs - ready.gives or part.entry.offer.missing()]
    if not misfits or len(misfits) == len(of_groups):
        return ready
    left = {part.label for part in misfits}
    kept: dict[str, Any] = {kind.field: tuple(part for part in parts if part.label not in left)}
    choices = tuple(choice for choice in getattr(ready.plan, kind.field) if choice.label not in left)
    plan: dict[str, Any] = {kind.field: choices}
    return replace(ready, **kept, plan=replace(ready.plan, **plan))


def _rebuilt(plan: Plan, disabled: tuple[str, ...], modules: tuple[str, ...]) -> Ready:
    return resolve(plan, Catalogue(load_plugins(disabled, modules)))
