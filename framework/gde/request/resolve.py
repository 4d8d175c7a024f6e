"""From a plan to parts that are ready to be made, with defaults filled in."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

from gde.data.goals import GOAL_MOVED
from gde.data.json import NONE, Json, Labels
from gde.data.plan import OBJECT, Choice, Plan
from gde.errors import ConfigError, GdeError
from gde.offers import Capability, MetricOffer
from gde.parts.context import Context
from gde.request.catalogue import Catalogue, Entry, load_plugins
from gde.request.kinds import KINDS, MODEL, SEVERAL, Kind
from gde.request.names import (
    check_task,
    find_model,
    model_names,
    models_by_name,
    reward_names,
    weights_name,
)
from gde.request.objects import absent_entry, object_entry
from gde.request.settings import build, dump, sweep

ASKED_FOR = tuple(kind for kind in SEVERAL if kind is not MODEL)
"""The kinds of which a plan lists what it wants. Of models, it lists those that some
part names.
"""
LABEL = re.compile(r"[^\s/\\\0]+")
FRAMEWORK = "gde-eval"
"""The distribution whose defaults every run takes."""
OF_MODEL = frozenset({Capability.ACTIVATIONS, Capability.INTERVENTIONS})
"""Capabilities that an agent gives only if its language model does."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """One part of the plan with its typed configuration."""

    kind: str
    name: str
    label: str
    """What the run calls it."""
    entry: Entry
    config: Any
    absent: str = ""
    """Why it cannot be made here; empty when it can."""

    def make(self, context: Context) -> Any:
        """A new part."""
        return self.entry.offer.made(self.config, context)

    @property
    def needs(self) -> frozenset[str]:
        """The capabilities that the part needs with this configuration."""
        offer = self.entry.offer
        return offer.needs | offer.needs_for(self.config)

    def choice(self, asked: Choice) -> Choice:
        """The choice that was asked for, with its configuration complete."""
        if self.absent:
            return asked
        return replace(asked, config=dump(self.config))


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One combination of the swept environment values."""

    labels: Labels
    environment: Chosen
    goal_moved: bool = False
    """Whether its worlds have another goal than their own."""


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A plan whose every part is known.

    `check.check` says whether the parts fit together.
    """

    plan: Plan
    """With every configuration complete, defaults included."""
    catalogue: Catalogue
    conditions: tuple[Condition, ...]
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
        """Another process loads the same plugins and resolves the same plan again.

        Of the caller's own parts, only those that episodes need are pickled.
        """
        plugins = self.catalogue.plugins
        plan = _for_episodes(self.plan, self.judges)
        return _rebuilt, (plan, plugins.disabled, plugins.modules)

    @property
    def environment(self) -> Chosen:
        """The environment of the first condition; offer and name are those of all."""
        return self.conditions[0].environment

    @property
    def agent_model(self) -> str:
        """The language model that the agent's configuration names first, or empty."""
        return _first_model(self.agent)

    def read_model(self, probe: Chosen) -> str:
        """The language model whose activations a probe reads."""
        return weights_name(probe.config) or self.agent_model

    @property
    def parts(self) -> Iterator[Chosen]:
        """Every part, the language models after the agent."""
        yield from (self.environment, self.agent, *self.models.values(), self.executor)
        yield from (*self.probes, *self.rewards, *self.metrics, *self.reporters)
        for part in self.judges.values():
            if part not in self.rewards:
                yield part

    @property
    def gives(self) -> frozenset[str]:
        """The capabilities that the agent, its model and other parts give.

        The other parts are the environment and the reward models.
        """
        by_environment = self.environment.entry.offer.gives
        by_agent = self.agent.entry.offer.gives
        given = by_environment | (by_agent - OF_MODEL)
        for name in {self.agent_model, *map(self.read_model, self.probes)} - {""}:
            by_model = self.models[name].entry.offer.gives
            given |= by_agent & by_model & OF_MODEL
            given |= by_model & {Capability.ANSWER_FORMS}
        given = implied(given)
        if self.rewards:
            given |= {Capability.REWARD_TRACE}
        return given


def implied(given: frozenset[str]) -> frozenset[str]:
    """The capabilities with those that follow from them."""
    if Capability.MDP in given:
        given |= {Capability.OPTIMUM}
    if Capability.OPTIMUM in given:
        given |= {Capability.TRUE_REWARD}
    return given


def settable(error: GdeError, judge: str) -> ConfigError:
    """The error of a reward model that only another part names, with its remedy."""
    return ConfigError(f"{error}; add --reward {judge} to set it")


def resolve(plan: Plan, catalogue: Catalogue, absent: bool = False) -> Ready:
    """Look up and configure every part of a plan.

    Args:
        plan: what is asked for.
        catalogue: all offers.
        absent: whether parts that are not installed here may stand in the plan, to read
            a run that was made with them.

    Raises:
        UnknownName: a name or a field that does not exist.
        ConfigError: a value out of range.
    """
    find = Finder(catalogue, absent)
    conditions, environment = find.conditions(plan.environment)
    if plan.goal_swap:
        conditions = tuple(_swapped(conditions))
    agent = find.part("agent", plan.agent)
    executor = find.part("executor", plan.executor)

    several: dict[str, tuple[Chosen, ...]] = {}
    choices: dict[str, Any] = {}
    for kind in ASKED_FOR:
        asked = _with_members(getattr(plan, kind.field), kind, catalogue)
        chosen = tuple(find.part(kind.name, choice) for choice in asked)
        several[kind.field] = chosen
        choices[kind.field] = tuple(map(Chosen.choice, chosen, asked))
        _check_labels(kind, chosen)

    # The agent comes first: settings of a model without a name are for the agent's.
    parts = [agent]
    for chosen in several.values():
        parts += chosen
    judges = find.judges(parts, several["rewards"])
    models, choices[MODEL.field] = find.models([*parts, *judges.values()], plan.models)
    complete = replace(
        plan,
        environment=environment,
        agent=agent.choice(plan.agent),
        executor=executor.choice(plan.executor),
        **choices,
    )
    ready = Ready(
        plan=complete,
        catalogue=catalogue,
        conditions=conditions,
        agent=agent,
        models=models,
        judges=judges,
        executor=executor,
        **several,
    )

    # What a default needs is known only now: the other parts give it.
    for kind in (KINDS["metric"], KINDS["reporter"]):
        if not getattr(plan, kind.field):
            ready = _with_defaults(ready, kind, find)
    return _without_misfits(ready, plan.metrics)


def _swapped(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """Each condition with the worlds' own goals, and with the goals moved."""
    for condition in conditions:
        for moved in (False, True):
            labels = {**condition.labels, GOAL_MOVED: moved}
            yield replace(condition, labels=labels, goal_moved=moved)


@dataclass(frozen=True)
class Finder:
    """Finds parts in a catalogue."""

    catalogue: Catalogue
    absent: bool = False
    """Whether a stand-in is given for a part that cannot be had here."""

    def part(self, kind: str, choice: Choice) -> Chosen:
        """One part.

        Raises:
            UnknownName: a name or a field that does not exist.
            ConfigError: a value out of range.
        """

        def find() -> tuple[Entry, Any]:
            entry = self._entry(kind, choice)
            whose = _whose(kind, choice.label)
            return entry, build(entry.offer.config, choice.config, whose)

        return self._found(kind, choice.name, choice.label, find)

    def conditions(self, choice: Choice) -> tuple[tuple[Condition, ...], Choice]:
        """The conditions of an environment, and its choice with all values."""
        try:
            entry = self._entry("environment", choice)
            alternatives = sweep(entry.offer.config, choice.config, "env")
        except GdeError:
            if not self.absent:
                raise
            # Of an environment that is not installed here, the swept fields are
            # unknown.
            only = Condition(labels={}, environment=self.part("environment", choice))
            return (only,), choice

        # Fields with one value are no sweep, and label nothing.
        swept = {name: each for name, each in alternatives.items() if len(each) > 1}
        conditions = []
        for combination in product(*alternatives.values()):
            values = dict(zip(alternatives, combination, strict=True))
            labels = {name: _label(values[name]) for name in swept}
            part = self.part("environment", replace(choice, config=values))
            conditions.append(Condition(labels=labels, environment=part))

        # The plan keeps all values of a swept field, and the defaults of the others.
        config = {**dump(conditions[0].environment.config), **swept}
        return tuple(conditions), replace(choice, config=config)

    def models(
        self, parts: Sequence[Chosen], configured: Sequence[Choice]
    ) -> tuple[dict[str, Chosen], tuple[Choice, ...]]:
        """The language models that the parts name, by name, and their choices.

        Args:
            parts: the agent first.
            configured: the models of the plan. Those that no part names are left out.
        """
        agent = parts[0]
        own = _first_model(agent)
        if agent.absent:
            configured = [choice for choice in configured if choice.name]
        known = models_by_name(configured, agent.label, own)
        found: dict[str, Chosen] = {}
        choices: dict[str, Choice] = {}
        for part in parts:
            for field, name in model_names(part.config).items():
                whose = f"{_whose(part.kind, part.label)}.{field}"
                if name not in found:
                    choice = known.get(name, Choice(name=name))
                    find = partial(find_model, choice, self.catalogue, whose)
                    found[name] = self._found(
                        MODEL.name, choice.name, choice.label, find
                    )
                    choices[name] = found[name].choice(choice)
                if not self.absent:
                    check_task(part.config, field, found[name].entry, whose)
        return found, tuple(choices.values())

    def judges(
        self, parts: Iterable[Chosen], rewards: Sequence[Chosen]
    ) -> dict[str, Chosen]:
        """The named reward models: the run's by label, others as offered."""
        of_run = {part.label: part for part in rewards}
        found: dict[str, Chosen] = {}
        for part in parts:
            for name in reward_names(part.config).values():
                if name not in found:
                    found[name] = of_run.get(name) or self.judge(name)
        return found

    def judge(self, name: str) -> Chosen:
        """A reward model as it is offered.

        Raises:
            UnknownName: nobody offers it.
            ConfigError: it cannot do without settings.
        """
        try:
            return self.part("reward_model", Choice(name=name))
        except ConfigError as error:
            raise settable(error, name) from error

    def _found(
        self, kind: str, name: str, label: str, find: Callable[[], tuple[Entry, Any]]
    ) -> Chosen:
        reason = ""
        try:
            entry, config = find()
        except GdeError as error:
            if not self.absent:
                raise
            reason = str(error)
            entry = absent_entry(kind, name, reason)
            config = entry.offer.config()
        return Chosen(
            kind=kind, name=name, label=label, entry=entry, config=config, absent=reason
        )

    def _entry(self, kind: str, choice: Choice) -> Entry:
        if choice.part is not None:
            return object_entry(kind, choice)
        if choice.name.startswith(OBJECT):
            what = "is not an offer but an object of the program that made the run"
            advice = "resume in Python with the plan: gde.resume(RUN, plan=...)"
            raise GdeError(f"{KINDS[kind].title} {choice.name!r} {what}: {advice}")
        return self.catalogue.find(kind, choice.name)


def _first_model(agent: Chosen) -> str:
    """The language model that the agent's configuration names first, or empty."""
    return next(iter(model_names(agent.config).values()), "")


def _whose(kind: str, label: str) -> str:
    """The PART in `--set PART.FIELD`: a label, or the table of a single kind."""
    described = KINDS[kind]
    return label if described.several else described.table


def _label(value: Json) -> str | int | float | bool:
    """A swept value as a label."""
    if value is None:
        return NONE
    if isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _with_members(
    choices: tuple[Choice, ...], kind: Kind, catalogue: Catalogue
) -> tuple[Choice, ...]:
    """The choices, with a group's members in the place of its name."""
    by_name = {choice.name for choice in choices}
    found: list[Choice] = []
    for choice in choices:
        names: tuple[str, ...] = (choice.name,)
        if choice.part is None:
            names = catalogue.members(kind.name, choice.name)
        if names == (choice.name,):
            found.append(choice)
        elif choice.config or choice.alias:
            listed = ", ".join(names)
            raise ConfigError(
                f"{kind.title} {choice.label!r}: a group is neither renamed nor set; name its members {listed}"
            )
        else:
            # A member that is also named by itself keeps the settings that it has
            # there.
            found += [Choice(name=name) for name in names if name not in by_name]
    return tuple(found)


def _check_labels(kind: Kind, chosen: tuple[Chosen, ...]) -> None:
    """Refuse labels that cannot name a file, or that two parts of a kind have."""
    seen = set()
    for part in chosen:
        label = part.label
        if not LABEL.fullmatch(label):
            raise ConfigError(
                f"{kind.title} {label!r}: wanted a name without blanks and slashes to call it by"
            )
        if label in seen:
            advice = (
                f"rename one: --{kind.table} OTHER={label}, or Choice.of(part, 'OTHER')"
            )
            raise ConfigError(f"{kind.title} {label!r} is listed twice; {advice}")
        seen.add(label)


def _with_defaults(ready: Ready, kind: Kind, find: Finder) -> Ready:
    """The plan with the usable default parts of a kind.

    Their needs are met and their packages are installed.
    """
    # Only distributions that the plan takes parts from: what else is installed changes
    # no run.
    homes = {FRAMEWORK, *(part.entry.distribution for part in ready.parts)}

    known = ready.catalogue.names(kind.name)
    asked = []
    for entry in ready.catalogue.entries(kind.name):
        offer = entry.offer
        wanted = offer.default and entry.distribution in homes
        if not wanted or offer.needs - ready.gives or offer.missing():
            continue
        # If two plugins offer the name, the part is asked for in full and bears the
        # short name.
        if offer.name in known:
            asked.append(Choice(name=offer.name))
        else:
            asked.append(Choice(name=entry.qualified, alias=offer.name))
    chosen = tuple(find.part(kind.name, choice) for choice in asked)
    choices = tuple(map(Chosen.choice, chosen, asked))
    return _replaced(ready, kind, chosen, choices)


def _without_misfits(ready: Ready, asked: tuple[Choice, ...]) -> Ready:
    """The plan without those metrics of a group that do not fit the run."""
    by_name = {choice.name for choice in asked}
    members = []
    misfits = []
    for part in ready.metrics:
        offer = part.entry.offer
        in_group = isinstance(offer, MetricOffer) and offer.group in by_name
        if not in_group or part.name in by_name:
            continue
        members.append(part)
        if part.needs - ready.gives or offer.missing():
            misfits.append(part)

    # Where nothing of a group fits, all of it stays, so that `check` says why.
    if not misfits or len(misfits) == len(members):
        return ready
    kept = tuple(part for part in ready.metrics if part not in misfits)
    labels = {part.label for part in kept}
    choices = tuple(choice for choice in ready.plan.metrics if choice.label in labels)
    return _replaced(ready, KINDS["metric"], kept, choices)


def _replaced(
    ready: Ready, kind: Kind, chosen: tuple[Chosen, ...], choices: tuple[Choice, ...]
) -> Ready:
    """The plan with other parts of a kind."""
    parts: dict[str, Any] = {kind.field: chosen}
    fields: dict[str, Any] = {kind.field: choices}
    return replace(ready, plan=replace(ready.plan, **fields), **parts)


def _for_episodes(plan: Plan, judges: Collection[str]) -> Plan:
    """The plan for another process, without objects that no episode needs."""
    several: dict[str, Any] = {}
    for kind in SEVERAL:
        kept = []
        for choice in getattr(plan, kind.field):
            is_judge = kind.name == "reward_model" and choice.label in judges
            if choice.part is None or is_judge:
                kept.append(choice)
        several[kind.field] = tuple(kept)
    return replace(plan, executor=Choice(name="serial", config={}), **several)


def _rebuilt(plan: Plan, disabled: tuple[str, ...], modules: tuple[str, ...]) -> Ready:
    return resolve(plan, Catalogue(load_plugins(disabled, modules)))
