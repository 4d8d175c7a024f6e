"""From a plan to parts that are ready to be made, with groups and defaults filled in."""

import copyreg
import re
from dataclasses import replace
from typing import Any

from gde.data.goals import GOAL_MOVED
from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError
from gde.offers import MetricOffer
from gde.request.catalogue import FRAMEWORK, Catalogue, load_plugins
from gde.request.finding import DEFAULT_HOW, Finder
from gde.request.kinds import KINDS, MODEL, REPORTER, SEVERAL, Kind
from gde.request.models import find_models
from gde.request.ready import Alone, Chosen, Condition, Ready
from gde.request.settings import dump_how

ASKED_FOR = (*(kind for kind in SEVERAL if kind is not MODEL), REPORTER)
"""The kinds of which a request lists what it wants. Of models, it lists those that some
part names.
"""
LABEL = re.compile(r"[^\s/\\\0]+")


def resolve(
    plan: Plan, catalogue: Catalogue, how: How = DEFAULT_HOW, *, absent: bool = False
) -> Ready:
    """Look up and configure every part of a plan.

    Args:
        plan: what is measured. What its choices say of how goes there.
        catalogue: all offers.
        how: how the run is done.
        absent: whether parts that are not installed here may stand in the plan, to read
            a run that was made with them.

    Raises:
        UnknownName: a name or a field that does not exist.
        ConfigError: a value out of range.
    """
    find = Finder(catalogue, absent, how)
    each, environment = find.environments(plan.environment)
    conditions = []
    for labels, part in each:
        one = Condition(labels=labels, environment=part)
        conditions += _swapped(one) if plan.goal_swap else [one]
    agent = find.part("agent", plan.agent)
    executor = find.part("executor", how.executor)

    several: dict[str, Any] = {}
    for kind in ASKED_FOR:
        request = how if kind.how else plan
        asked = _with_members(getattr(request, kind.field), kind, catalogue)
        chosen = tuple(find.part(kind.name, choice) for choice in asked)
        several[kind.field] = chosen
        _check_labels(kind, chosen)

    # The agent comes first: settings of a model without a name are for the agent's.
    parts = [agent]
    for chosen in several.values():
        parts += chosen
    judges = find.judges(parts, several["rewards"])
    models = find_models(find, [*parts, *judges.values()], plan.models)
    found = {**several, MODEL.field: tuple(models.values())}
    choices: dict[str, Any] = {
        field: tuple(part.choice for part in chosen) for field, chosen in found.items()
    }
    reporters = choices.pop(REPORTER.field)
    ready = Ready(
        plan=replace(plan, environment=environment, agent=agent.choice, **choices),
        how=replace(how, executor=executor.choice, reporters=reporters),
        catalogue=catalogue,
        conditions=tuple(conditions),
        agent=agent,
        models=models,
        judges=judges,
        executor=executor,
        **several,
    )

    # What a default needs is known only now: the other parts give it.
    for kind in (KINDS["metric"], REPORTER):
        if not several[kind.field]:
            ready = _with_defaults(ready, kind, find)
    ready = _without_misfits(ready, plan.metrics)
    return replace(ready, how=replace(ready.how, settings=_settings(ready)))


def resolve_alone(
    kind: str, choice: Choice, catalogue: Catalogue, how: How = DEFAULT_HOW
) -> Alone:
    """Look up and configure a part that is used outside of runs.

    Raises:
        GdeError: as `resolve`.
    """
    find = Finder(catalogue, how=how)
    part = find.part(kind, choice)
    judges = find.judges([part], ())
    models = find_models(find, [part, *judges.values()], ())
    return Alone(part=part, catalogue=catalogue, how=how, models=models, judges=judges)


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
    return _replaced(ready, kind, chosen)


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
    return _replaced(ready, KINDS["metric"], kept)


def _replaced(ready: Ready, kind: Kind, chosen: tuple[Chosen, ...]) -> Ready:
    """The plan with other parts of a kind."""
    parts: dict[str, Any] = {kind.field: chosen}
    fields: dict[str, Any] = {kind.field: tuple(part.choice for part in chosen)}
    if kind.how:
        return replace(ready, how=replace(ready.how, **fields), **parts)
    return replace(ready, plan=replace(ready.plan, **fields), **parts)


def _swapped(condition: Condition) -> list[Condition]:
    """The condition with the worlds' own goals, and with the goals moved."""
    return [
        replace(
            condition, labels={**condition.labels, GOAL_MOVED: moved}, goal_moved=moved
        )
        for moved in (False, True)
    ]


def _settings(ready: Ready) -> dict[str, dict[str, Json]]:
    """All fields of parts that say how the run is done, by part."""
    found: dict[str, dict[str, Json]] = {}
    for part in ready.parts:
        values = {} if part.absent else dump_how(part.config)
        if values:
            found[part.whose] = values
    return found


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
            advice = f"rename one: OTHER={label}, or Choice.of(part, 'OTHER')"
            raise ConfigError(f"{kind.title} {label!r} is listed twice; {advice}")
        seen.add(label)


def _reduced(ready: Ready) -> tuple[Any, ...]:
    """For another process, which loads the same plugins and resolves the same plan.

    Of the caller's own parts, only those that episodes need are pickled.
    """
    plugins = ready.catalogue.plugins
    several: dict[str, Any] = {}
    for kind in SEVERAL:
        kept = []
        for choice in getattr(ready.plan, kind.field):
            is_judge = kind.name == "reward_model" and choice.label in ready.judges
            if choice.part is None or is_judge:
                kept.append(choice)
        several[kind.field] = tuple(kept)
    plan = replace(ready.plan, **several)
    how = replace(
        ready.how,
        # An empty configuration of its own, for the common one cannot be pickled.
        executor=Choice(name="serial", config={}),
        reporters=[each for each in ready.how.reporters if each.part is None],
    )
    return _rebuilt, (plan, how, plugins.disabled, plugins.modules)


def _rebuilt(
    plan: Plan, how: How, disabled: tuple[str, ...], modules: tuple[str, ...]
) -> Ready:
    return resolve(plan, Catalogue(load_plugins(disabled, modules)), how)


copyreg.pickle(Ready, _reduced)
