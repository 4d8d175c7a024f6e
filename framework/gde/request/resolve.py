"""From a plan to parts that are ready to be made, with defaults filled in."""

import copyreg
import re
from dataclasses import replace
from typing import Any

from gde.data.goals import GOAL_MOVED
from gde.data.how import How
from gde.data.json import Json
from gde.data.plan import Choice, Plan
from gde.errors import ConfigError
from gde.request.catalogue import Catalogue, load_plugins
from gde.request.defaults import with_defaults, with_members, without_misfits
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
        asked = with_members(getattr(request, kind.field), kind, catalogue)
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
            ready = with_defaults(ready, kind, find)
    ready = without_misfits(ready, plan.metrics)
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
